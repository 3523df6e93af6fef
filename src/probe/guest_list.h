// Decides which PINGs are answered: all from sources that the plan names, and few enough from all
// others together that they cannot make an agent busy. So `pingloom ping` works from anywhere. An
// agent's sockets share one list. One thread; the time comes in as an argument.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <utility>

#include "common/time.h"
#include "plan/plan.h"

namespace pingloom::probe {

// A rate limit: `rate` a second, and up to `rate` at once after a quiet second.
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
  Nanos empty_at_ = 0;  // since then the bucket has been filling
};

class GuestList {
 public:
  static constexpr std::uint32_t kStrangersPerSecond = 1000;

  void setKnown(std::shared_ptr<const plan::AddressList> known) { known_ = std::move(known); }

  bool admits(const IpAddress& source, Nanos now) {
    if (known_ != nullptr && std::binary_search(known_->begin(), known_->end(), source)) {
      return true;
    }
    return strangers_.take(now);
  }

 private:
  std::shared_ptr<const plan::AddressList> known_;  // ascending; nullptr means none
  TokenBucket strangers_{kStrangersPerSecond};
};

}  // namespace pingloom::probe
