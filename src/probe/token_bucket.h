// A rate limit: `rate` a second, up to `rate` at once after a quiet second. The time comes in as an
// argument. One thread.
#pragma once

#include <algorithm>
#include <cstdint>

#include "common/time.h"

namespace pingloom::probe {

class TokenBucket {
 public:
  explicit TokenBucket(std::uint32_t rate) : gap_(kSecond / rate) {}

  bool take(Nanos now) {
    empty_at_ = std::max(empty_at_, now - kSecond);
    if (empty_at_ + gap_ > now) return false;
    empty_at_ += gap_;
    return true;
  }

 private:
  Nanos gap_;
  Nanos empty_at_ = 0;  // the bucket has filled since then
};

}  // namespace pingloom::probe
