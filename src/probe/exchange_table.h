// The exchanges that are under way, and those settled lately, found by the id their packets carry.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "probe/exchange.h"

namespace pingloom::probe {

enum class ExchangeState : std::uint8_t {
  kFree,
  kOpen,      // PING is out, nothing came back yet (an ACK that overtook its PONG may have)
  kAnswered,  // PONG came, ACK has not
  kLate,      // PONG came after the timeout: it will be counted as lost
  kSettled,   // its verdict is counted; kept to recognise duplicates
};

// One exchange; the agent may have a hundred thousand of them, so its size has a test.
struct Exchange {
  ExchangeTimes times;
  std::uint64_t nonce = 0;
  std::uint64_t window = 0;  // index of the window it belongs to
  std::uint32_t task = 0;
  std::uint32_t target = 0;
  std::uint32_t id = 0;
  std::uint32_t older =
      0;  // neighbours in its queue (slot numbers); `newer` also chains free slots
  std::uint32_t newer = 0;
  std::uint16_t queue = 0;
  ExchangeState state = ExchangeState::kFree;
  bool peer_stalled = false;  // PONG or ACK carried the flag
};

// A slot's number and its generation make the id, so the id of an exchange that is gone is not
// mistaken for its successor's: an id comes back after 32,768 uses of its slot, each of which lasts
// a lifetime. Exchanges with the same lifetime wait in one queue, oldest first, so expiry looks at
// one exchange per lifetime. One thread; addresses of exchanges stay valid until they are released.
// Bounds: kMax exchanges of 104 bytes, allocated by need, 1,024 at a time, and never given back;
// kMaxQueues different lifetimes.
class ExchangeTable {
 public:
  static constexpr std::uint32_t kSlotBits = 17;
  static constexpr std::uint32_t kMax = (1U << kSlotBits) - 1;  // 131,071: slot 0 stands for none
  static constexpr std::size_t kMaxQueues = 2048;

  ExchangeTable();

  // A fresh exchange, the youngest of those that live `lifetime` from times.sent; nullptr where the
  // table is full. The caller may set times.sent up to the time at which the next one is opened.
  Exchange* open(Nanos lifetime, const Instant& sent);
  // nullptr where there is none with this id (any more).
  Exchange* find(std::uint32_t id);
  void release(Exchange& exchange);

  // When the first of them expires.
  Nanos nextExpiry() const;
  // The oldest that has expired by `now`, or nullptr. The caller releases it and asks again.
  Exchange* expired(Nanos now);
  // Calls visit(exchange) for each; it may release that one.
  template <typename Visit>
  void forEach(Visit&& visit) {
    for (const auto& chunk : chunks_) {
      for (std::size_t i = 0; i < kChunk; ++i) {
        if (chunk[i].state != ExchangeState::kFree) visit(chunk[i]);
      }
    }
  }
  std::size_t size() const { return size_; }

 private:
  static constexpr std::size_t kChunk = 1024;
  struct Queue {
    Nanos lifetime;
    std::uint32_t oldest;
    std::uint32_t newest;
  };

  Exchange& at(std::uint32_t slot) { return chunks_[slot / kChunk][slot % kChunk]; }
  const Exchange& at(std::uint32_t slot) const { return chunks_[slot / kChunk][slot % kChunk]; }
  std::uint32_t freeSlot();
  bool grow();
  int queueFor(Nanos lifetime);

  std::vector<std::unique_ptr<Exchange[]>> chunks_;
  std::vector<Queue> queues_;
  std::uint32_t free_ = 0;  // first of the chain: the one released last, which is in the cache
  std::size_t size_ = 0;
};

}  // namespace pingloom::probe
