// How far a reporter may send: the credit that a translator gives it. Times are monotonic
// nanoseconds, passed in. One thread.
//
// A reporter that has never got credit sends at once, because its translator may be unable to
// answer. One that has used up its credit holds its datagrams back, but never for ever: every
// kProbeEvery one of them leaves nevertheless, so that the translator, which may have restarted or
// whose reply may be lost, gives credit again. After kForgetAfter without a reply, no more replies
// are expected, and everything leaves.
#pragma once

#include <algorithm>
#include <cstdint>

namespace pingloom::report::client {

class Credit {
 public:
  static constexpr std::int64_t kProbeEvery = 100'000'000;
  static constexpr std::int64_t kForgetAfter = 1'000'000'000;

  // The translator permits sequences up to `until`, a serial number. Credit is never taken back, so
  // replies may overtake each other.
  void grant(std::uint32_t until, std::int64_t now) {
    if (!known_ || static_cast<std::int32_t>(until - until_) > 0) {
      until_ = until;
      held_ = false;
    }
    known_ = true;
    heard_ = now;
  }

  // Tells whether the datagram with this sequence may leave. If so, it has to leave.
  bool takeOne(std::uint32_t sequence, std::int64_t now) {
    if (!known_ || static_cast<std::int32_t>(sequence - until_) <= 0) return true;
    if (!held_) {
      held_ = true;
      held_since_ = now;
      probe_at_ = now + kProbeEvery;
      return false;
    }
    if (now - std::max(held_since_, heard_) >= kForgetAfter) {
      forget();
      return true;
    }
    if (now < probe_at_) return false;
    probe_at_ = now + kProbeEvery;
    return true;
  }

  // Nothing is known about the translator any more.
  void forget() { known_ = held_ = false; }

 private:
  bool known_ = false;
  bool held_ = false;  // datagrams wait for credit
  std::uint32_t until_ = 0;
  std::int64_t heard_ = 0;
  std::int64_t held_since_ = 0;
  std::int64_t probe_at_ = 0;
};

}  // namespace pingloom::report::client
