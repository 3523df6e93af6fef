// Joins the postcards of flows: a bounded number of flows, each with the hops that are known so
// far, found by their key and known by their age. One thread; no call allocates.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "common/time.h"
#include "store/layout.h"

namespace pingloom::store {

class PathJoiner {
 public:
  static constexpr std::uint32_t kNone = UINT32_MAX;

  struct Flow {
    std::array<std::uint8_t, kMaxKeyBytes> key_memory{};
    std::uint8_t key_bytes = 0;
    std::uint8_t hops = 0;      // of the path; 0 if not known
    std::uint16_t present = 0;  // bit h: hop h is known
    Nanos began = 0;

    std::span<const std::uint8_t> key() const { return std::span(key_memory).first(key_bytes); }
  };

  // For at most `flows` flows with `hops` hops of `hop_bytes` each. REQUIRES: 1 to 2^24 flows.
  PathJoiner(std::size_t flows, std::size_t hops, std::size_t hop_bytes);

  // Returns the number of the key's flow, or kNone. `hash` is any hash of the key.
  std::uint32_t find(std::uint64_t hash, std::span<const std::uint8_t> key) const;
  // Begins a flow without hops. REQUIRES: the key has none yet, and not full(). Flows begin in the
  // order of time.
  std::uint32_t begin(std::uint64_t hash, std::span<const std::uint8_t> key, Nanos now);
  void remove(std::uint32_t number);
  bool full() const { return free_ == kNone; }
  std::uint32_t oldest() const { return oldest_; }  // kNone if there are no flows
  std::size_t size() const { return size_; }

  // The references are valid until the flow is removed.
  Flow& flow(std::uint32_t number) { return entries_[number].flow; }
  std::span<std::uint8_t> hop(std::uint32_t number, std::size_t index) {
    return std::span(hops_).subspan((number * per_flow_ + index) * hop_bytes_, hop_bytes_);
  }

 private:
  struct Entry {
    Flow flow;
    std::uint64_t hash = 0;
    std::uint32_t next = kNone;   // in its chain, or the next free one
    std::uint32_t older = kNone;  // in the order of time
    std::uint32_t newer = kNone;
  };
  std::uint32_t& chainOf(std::uint64_t hash) { return chains_[hash & (chains_.size() - 1)]; }

  const std::size_t per_flow_;
  const std::size_t hop_bytes_;
  std::vector<Entry> entries_;
  std::vector<std::uint8_t> hops_;
  std::vector<std::uint32_t> chains_;  // the first entry of each; as many as a power of two
  std::uint32_t free_ = kNone;
  std::uint32_t oldest_ = kNone;
  std::uint32_t newest_ = kNone;
  std::size_t size_ = 0;
};

}  // namespace pingloom::store
