// The latest datagrams that were sent, so that they can be sent again. One thread. Memory: kBytes,
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

  // REQUIRES: at most `longest` bytes.
  void keep(std::uint32_t sequence, std::span<const std::uint8_t> datagram) {
    const std::size_t at = sequence % slots_.size();
    slots_[at] = {sequence, static_cast<std::uint16_t>(datagram.size())};
    std::copy(datagram.begin(), datagram.end(), memoryAt(at));
  }
  // Returns the datagram, whose bytes may be changed, or nothing if it is not there any more.
  std::span<std::uint8_t> find(std::uint32_t sequence) {
    const std::size_t at = sequence % slots_.size();
    if (slots_[at].length == 0 || slots_[at].sequence != sequence) return {};
    return {memoryAt(at), slots_[at].length};
  }
  std::size_t datagrams() const { return slots_.size(); }
  void clear() { std::fill(slots_.begin(), slots_.end(), Slot{}); }

 private:
  struct Slot {
    std::uint32_t sequence = 0;
    std::uint16_t length = 0;  // 0: empty
  };
  std::uint8_t* memoryAt(std::size_t slot) { return bytes_.data() + slot * longest_; }

  const std::size_t longest_;
  std::vector<Slot> slots_;
  std::vector<std::uint8_t> bytes_;
};

}  // namespace pingloom::report::client
