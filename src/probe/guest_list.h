// Whose PINGs are answered: everybody's whom the plan names, and of all others together a few, so
// that `pingloom ping` works from anywhere and nobody can make an agent busy. One thread; shared by
// an agent's sockets.
#pragma once

#include <algorithm>
#include <memory>
#include <utility>

#include "plan/plan.h"
#include "probe/token_bucket.h"

namespace pingloom::probe {

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
  std::shared_ptr<const plan::AddressList> known_;  // ascending; nullptr: nobody
  TokenBucket strangers_{kStrangersPerSecond};
};

}  // namespace pingloom::probe
