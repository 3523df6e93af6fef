// The latest sequences of one reporter: which of them have arrived, so that a datagram counts once,
// and which are missing. Sequences are serial numbers of 32 bits. A plain value of 528 bytes; one
// thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "wire/report_reply.h"

namespace pingloom::translator {

class SequenceWindow {
 public:
  static constexpr std::uint32_t kSize = 4096;  // sequences

  enum class Arrival : std::uint8_t {
    kNew,
    kDuplicate,  // it has arrived before, or it was given up
    kOld,        // it is older than the window
  };

  // Takes the first sequence. What came before it is not known, so it is not missing.
  explicit SequenceWindow(std::uint32_t first) : latest_(first), settled_(first) {
    arrived_.fill(~std::uint64_t{0});
  }

  Arrival take(std::uint32_t sequence);
  // Gives up what has been missing since the call before the last one. The caller calls it at
  // intervals that are longer than datagrams are reordered.
  void giveUp();

  std::uint32_t latest() const { return latest_; }
  std::uint32_t missing() const { return missing_; }
  // Writes the missing sequences as ranges, oldest first, and returns how many ranges there are.
  // The youngest of them may not fit.
  std::size_t missingRanges(std::span<wire::ReportRange> out) const;
  // Returns how many sequences were given up since the last call.
  std::uint64_t takeLost();

 private:
  std::uint64_t& wordOf(std::uint32_t sequence) { return arrived_[sequence % kSize / 64]; }
  static std::uint64_t bitOf(std::uint32_t sequence) { return std::uint64_t{1} << (sequence % 64); }
  bool has(std::uint32_t sequence) const {
    return (arrived_[sequence % kSize / 64] & bitOf(sequence)) != 0;
  }
  void lose(std::uint32_t sequence);
  void advance(std::uint32_t by);

  std::array<std::uint64_t, kSize / 64> arrived_{};  // bits; those given up are set too
  std::uint32_t latest_;
  std::uint32_t settled_;      // nothing up to here will be missing after the next giveUp()
  std::uint32_t missing_ = 0;  // in the window
  std::uint64_t lost_ = 0;
};

}  // namespace pingloom::translator
