// The datagrams that wait to be sent, and behind them the latest ones that were sent, so that they
// can be sent again. A datagram gets its sequence when it is sent. One thread. Memory: kBytes,
// allocated once.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace pingloom::report::client {

class SentRing {
 public:
  static constexpr std::size_t kBytes = 1 << 20;

  // REQUIRES: 0 < `longest` <= kBytes, the largest size of a datagram.
  explicit SentRing(std::size_t longest)
      : longest_(longest), slots_(kBytes / longest), bytes_(slots_.size() * longest) {}

  // Appends a datagram, in the place of the oldest that was sent. REQUIRES: !full(), and at most
  // `longest` bytes.
  void add(std::span<const std::uint8_t> datagram) {
    Slot& slot = slots_[end_ % slots_.size()];
    slot = {0, static_cast<std::uint16_t>(datagram.size())};
    std::copy(datagram.begin(), datagram.end(), memoryAt(end_));
    ++end_;
  }
  // Whether all datagrams wait.
  bool full() const { return end_ - next_ == slots_.size(); }
  bool hasWaiting() const { return next_ != end_; }
  // Returns the oldest one that waits. Its bytes may be changed. REQUIRES: hasWaiting().
  std::span<std::uint8_t> oldest() { return datagramAt(next_); }
  // The oldest one that waits has been sent.
  void sent(std::uint32_t sequence) { slots_[next_++ % slots_.size()].sequence = last_ = sequence; }
  // The oldest one that waits is not sent.
  void drop() { slots_[next_++ % slots_.size()] = {last_, 0}; }

  // Returns the datagram that was sent with this sequence, whose bytes may be changed, or nothing
  // if it is not there any more.
  std::span<std::uint8_t> find(std::uint32_t sequence) {
    // Sequences ascend; a dropped datagram has the one before it.
    std::uint64_t low = end_ > slots_.size() ? end_ - slots_.size() : 0;
    std::uint64_t high = next_;
    while (low < high) {
      const std::uint64_t middle = low + (high - low) / 2;
      const auto behind = static_cast<std::int32_t>(slotAt(middle).sequence - sequence);
      (behind < 0 ? low : high) = behind < 0 ? middle + 1 : middle;
    }
    if (low == next_ || slotAt(low).sequence != sequence) return {};
    return datagramAt(low);
  }
  std::size_t datagrams() const { return slots_.size(); }
  void clear() { end_ = next_ = 0; }

 private:
  struct Slot {
    std::uint32_t sequence = 0;
    std::uint16_t length = 0;  // 0: dropped
  };
  const Slot& slotAt(std::uint64_t place) const { return slots_[place % slots_.size()]; }
  std::uint8_t* memoryAt(std::uint64_t place) {
    return bytes_.data() + place % slots_.size() * longest_;
  }
  std::span<std::uint8_t> datagramAt(std::uint64_t place) {
    return {memoryAt(place), slotAt(place).length};
  }

  const std::size_t longest_;
  std::vector<Slot> slots_;
  std::vector<std::uint8_t> bytes_;
  std::uint64_t end_ = 0;   // datagrams that were added
  std::uint64_t next_ = 0;  // the first of them that waits
  std::uint32_t last_ = 0;  // the sequence that was sent last
};

}  // namespace pingloom::report::client
