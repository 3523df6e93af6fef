// Two halves of RC endpoints, a requester and a responder, with a network in between that runs on
// virtual time and loses, doubles, delays and shuffles packets as told.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <map>
#include <random>
#include <string_view>
#include <vector>

#include "rdma/soft/rc/memory_table.h"
#include "rdma/soft/rc/requester.h"
#include "rdma/soft/rc/responder.h"
#include "rdma/soft/rc/syndrome.h"

namespace pingloom::rdma::soft {

constexpr Access kEverything = Access::kRead | Access::kWrite | Access::kAtomic;

// A region without a device: memory of its own, filled with a pattern.
class TestRegion final : public MemoryRegion {
 public:
  TestRegion(std::size_t size, std::uint8_t seed) : memory_(size) {
    for (std::size_t i = 0; i < size; ++i) {
      memory_[i] = static_cast<std::uint8_t>((i * 131 >> 3) + i + seed);
    }
  }
  std::span<std::uint8_t> memory() const override { return memory_; }
  Access access() const override { return kEverything; }
  std::uint64_t address() const override { return key.address; }
  std::uint32_t rkey() const override { return key.rkey; }

  RegionKey key;  // where it is in a table

 private:
  mutable std::vector<std::uint8_t> memory_;
};

struct Weather {
  double loss = 0;
  double duplicate = 0;
  Nanos delay = 10 * kMicrosecond;
  Nanos jitter = 0;
};

class RcPair {
 public:
  explicit RcPair(const RequesterOptions& asks = {}, const ResponderOptions& answers = {},
                  const Weather& weather = {}, std::size_t remote_bytes = 4 << 20)
      : remote(remote_bytes, 7),
        local(remote_bytes, 99),
        requester(asks, asking_drops),
        responder(answers, table, answering_drops),
        weather_(weather) {
    remote.key = *table.add(remote.memory(), kEverything);
  }

  RcRequest request(RcOperation operation, std::size_t offset, std::size_t length,
                    std::uint64_t id = 1) {
    pieces_ = {{&local, local.memory().subspan(offset, length)}};
    RcRequest made;
    made.operation = operation;
    made.id = id;
    made.local = pieces_;
    made.remote_address = remote.key.address + offset;
    made.rkey = remote.key.rkey;
    return made;
  }
  bool post(RcOperation operation, std::size_t offset, std::size_t length, std::uint64_t id = 1) {
    return requester.post(request(operation, offset, length, id));
  }

  // Runs until nothing is to be done any more, or `deadline` on the virtual clock.
  void run(Nanos deadline = 1000 * kSecond) {
    for (;;) {
      sendAll();
      const Nanos next =
          std::min(requester.nextWake(), wire_.empty() ? INT64_MAX : wire_.begin()->first);
      if (next == INT64_MAX || next > deadline) break;
      now = std::max(now, next);
      while (!wire_.empty() && wire_.begin()->first <= now) {
        const Flying flying = std::move(wire_.extract(wire_.begin()).mapped());
        deliver(flying);
      }
      requester.elapse(now);
    }
    now = std::max(now, std::min(deadline, now));
  }
  std::vector<RcDone> takeDone() { return std::exchange(requester.done(), {}); }
  bool allOk(std::size_t count) {
    const auto done = takeDone();
    return done.size() == count && std::all_of(done.begin(), done.end(), [](const RcDone& one) {
             return one.status == RcStatus::kOk;
           });
  }
  bool same(std::size_t offset, std::size_t length) const {
    return std::equal(local.memory().begin() + static_cast<std::ptrdiff_t>(offset),
                      local.memory().begin() + static_cast<std::ptrdiff_t>(offset + length),
                      remote.memory().begin() + static_cast<std::ptrdiff_t>(offset));
  }
  // Sends what both sides have to send now.
  void sendAll() {
    Packet packet;
    while (responder.next(packet)) launch(packet, false);
    while (requester.next(packet, now)) launch(packet, true);
  }

  MemoryTable table;
  TestRegion remote;
  TestRegion local;
  RcDropCounters asking_drops;
  RcDropCounters answering_drops;
  Requester requester;
  Responder responder;
  Nanos now = kSecond;
  std::uint64_t launched = 0;
  std::size_t most_under_way = 0;
  // Sees every packet before the network does; false: it is lost.
  std::function<bool(const Packet&, bool is_request)> watch;

 private:
  struct Flying {
    bool is_request = false;
    std::vector<std::uint8_t> bytes;
  };

  void launch(const Packet& packet, bool is_request) {
    ++launched;
    if (watch && !watch(packet, is_request)) return;
    Flying flying{is_request, std::vector<std::uint8_t>(wireBytes(packet))};
    write(packet, flying.bytes);
    if (happens(weather_.loss)) return;
    if (happens(weather_.duplicate)) wire_.emplace(arrival(), flying);
    wire_.emplace(arrival(), std::move(flying));
    most_under_way = std::max(most_under_way, wire_.size());
  }
  void deliver(const Flying& flying) {
    Packet packet;
    ASSERT_EQ(parse(flying.bytes, packet), PacketError::kNone);
    if (flying.is_request) {
      responder.receive(packet);
    } else {
      requester.receive(packet, now);
    }
  }
  Nanos arrival() {
    const Nanos jitter =
        weather_.jitter == 0
            ? 0
            : static_cast<Nanos>(dice_() % static_cast<std::uint64_t>(weather_.jitter));
    return now + weather_.delay + jitter;
  }
  bool happens(double probability) {
    return probability > 0 && std::uniform_real_distribution<>(0, 1)(dice_) < probability;
  }

  Weather weather_;
  std::mt19937_64 dice_{4791};
  std::multimap<Nanos, Flying> wire_;
  std::vector<LocalPiece> pieces_;
};

}  // namespace pingloom::rdma::soft
