// The kernel numbers the datagrams whose transmit timestamp was requested
// (SOF_TIMESTAMPING_OPT_ID), and reports the number with the timestamp. This class maps the numbers
// to datagrams. One thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace pingloom::net {

// Identifies a datagram to its sender.
struct TxTag {
  static constexpr std::uint8_t kNone = 0;  // no timestamp was requested
  std::uint8_t kind = kNone;                // the sender chooses the other values
  std::uint32_t id = 0;
};

// Bound: the last kRemembered datagrams are remembered; timestamps of older ones are ignored.
class TxNumbers {
 public:
  static constexpr std::size_t kRemembered = 4096;

  void add(TxTag tag) { tags_[next_++ % kRemembered] = tag; }
  // Returns the tag of a number. Each number is valid once.
  std::optional<TxTag> take(std::uint32_t number) {
    if (next_ - number - 1 >= kRemembered) return std::nullopt;  // too old, or not used yet
    TxTag& tag = tags_[number % kRemembered];
    if (tag.kind == TxTag::kNone) return std::nullopt;
    const TxTag found = tag;
    tag = {};
    return found;
  }
  // Whether the timestamp of the last datagram is still missing.
  bool awaits() const { return tags_[(next_ - 1) % kRemembered].kind != TxTag::kNone; }
  // Called when the kernel counts from 0 again.
  void restart() {
    tags_.fill({});
    next_ = 0;
  }

 private:
  std::array<TxTag, kRemembered> tags_{};
  std::uint32_t next_ = 0;  // wraps like the kernel's number
};

}  // namespace pingloom::net
