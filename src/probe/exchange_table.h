// Holds the exchanges in flight and those that were settled recently, and finds them by the id that
// their packets carry.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "probe/exchange.h"

namespace pingloom::probe {

enum class ExchangeState : std::uint8_t {
  kFree,
  kOpen,      // no PONG has arrived; an ACK that overtook its PONG may have
  kAnswered,  // the PONG has arrived, and T3 - T2 is not known yet
  kLate,      // the PONG arrived after the timeout, so the exchange will count as lost
  kSettled,   // the verdict is counted; the entry stays to recognise duplicates
};

// One exchange. An agent may have a hundred thousand of them, so a test checks the size.
struct Exchange {
  ExchangeTimes times;
  std::uint64_t nonce = 0;
  std::uint64_t window = 0;  // the index of the window it belongs to
  std::uint32_t task = 0;
  std::uint32_t target = 0;
  std::uint32_t id = 0;
  // The slots of its neighbours in its queue; `newer` also chains the free slots.
  std::uint32_t older = 0;
  std::uint32_t newer = 0;
  std::uint16_t queue = 0;
  ExchangeState state = ExchangeState::kFree;
  bool stalled = false;  // this process or the responder did, so that the times are spoilt
};

// An id consists of a slot's number and the slot's generation, so that a late packet of a released
// exchange is not attributed to the next exchange in the slot. An id is used again only after
// 32,768 uses of its slot, each of which lasts a lifetime. Exchanges with the same lifetime wait in
// one queue, oldest first, so expiry looks at one exchange per lifetime. The address of an exchange
// stays valid until the exchange is released. One thread uses the table. Bounds: kMax exchanges of
// 104 bytes, which are allocated 1,024 at a time when needed and never freed; kMaxQueues different
// lifetimes.
class ExchangeTable {
 public:
  static constexpr std::uint32_t kSlotBits = 17;
  static constexpr std::uint32_t kMax = (1U << kSlotBits) - 1;  // slot 0 stands for none
  static constexpr std::size_t kMaxQueues = 2048;

  ExchangeTable();

  // Opens an exchange that lives for `lifetime` from times.sent. The caller may set times.sent to a
  // later time, but not later than when it opens the next exchange. Returns nullptr when the table
  // is full.
  Exchange* open(Nanos lifetime, const Instant& sent);
  // Returns nullptr when no exchange has this id (any more).
  Exchange* find(std::uint32_t id);
  void release(Exchange& exchange);

  // When the first exchange expires; kNever while the table is empty.
  Nanos nextExpiry() const;
  // Returns an exchange that has expired by `now`, or nullptr. The caller releases it and asks
  // again.
  Exchange* expired(Nanos now);
  // Returns an unanswered exchange that will expire within `grace` after `now`, or nullptr. Each
  // exchange is returned at most once.
  Exchange* overdue(Nanos now, Nanos grace);
  // When overdue() may have the next one; kNever while it cannot have any.
  Nanos nextOverdue(Nanos grace) const;
  // Calls visit(exchange) for each exchange; the call may release that exchange.
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
    Nanos lifetime = 0;
    std::uint32_t oldest = 0;
    std::uint32_t newest = 0;
    std::uint32_t unseen = 0;  // the oldest one that overdue() has not looked at
  };

  Exchange& at(std::uint32_t slot) { return chunks_[slot / kChunk][slot % kChunk]; }
  const Exchange& at(std::uint32_t slot) const { return chunks_[slot / kChunk][slot % kChunk]; }
  std::uint32_t freeSlot();
  bool grow();
  int queueFor(Nanos lifetime);

  std::vector<std::unique_ptr<Exchange[]>> chunks_;
  std::vector<Queue> queues_;
  std::uint32_t free_ = 0;  // the slot released last comes first: it is in the cache
  std::size_t size_ = 0;
};

}  // namespace pingloom::probe
