// The kernel numbers the datagrams whose transmit timestamp was asked for (SOF_TIMESTAMPING_OPT_ID)
// and names the number with the timestamp; here is what each number stands for. One thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace pingloom::net {

// What a datagram is to its sender.
struct TxTag {
  static constexpr std::uint8_t kNone = 0;  // nobody asked when it leaves
  std::uint8_t kind = kNone;                // the others are the sender's to choose
  std::uint32_t id = 0;
};

// Bound: remembers the last kRemembered; older timestamps that still come are ignored.
class TxNumbers {
 public:
  static constexpr std::size_t kRemembered = 4096;

  void add(TxTag tag) { tags_[next_++ % kRemembered] = tag; }
  // Each number is good once.
  std::optional<TxTag> take(std::uint32_t number) {
    if (next_ - number - 1 >= kRemembered) return std::nullopt;  // too old, or not given out yet
    TxTag& tag = tags_[number % kRemembered];
    if (tag.kind == TxTag::kNone) return std::nullopt;
    const TxTag found = tag;
    tag = {};
    return found;
  }
  bool awaits() const { return tags_[(next_ - 1) % kRemembered].kind != TxTag::kNone; }
  // The kernel starts again from 0.
  void restart() {
    tags_.fill({});
    next_ = 0;
  }

 private:
  std::array<TxTag, kRemembered> tags_{};
  std::uint32_t next_ = 0;  // wraps with the kernel's
};

}  // namespace pingloom::net
