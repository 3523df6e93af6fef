// Decides which PINGs are answered. A source that the plan names (a guest) is answered at the rate
// at which the plan lets it send, with slack. Thus forged PINGs in its name can neither flood it
// with answers nor keep this host from its own work. All other sources share one rate, which is
// high enough for `pingloom ping` from anywhere and too low to make an agent busy. An agent's
// sockets share one list. One thread uses it and passes the time in.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "common/address.h"
#include "common/time.h"

namespace pingloom::probe {

// A rate limit: `rate` a second, and up to `most` at once after a quiet time.
class TokenBucket {
 public:
  TokenBucket(std::uint32_t rate, std::uint32_t most) : gap_(kSecond / rate), depth_(gap_ * most) {}

  bool take(Nanos now) {
    empty_at_ = std::max(empty_at_, now - depth_);
    if (empty_at_ + gap_ > now) return false;
    empty_at_ += gap_;
    return true;
  }

 private:
  Nanos gap_;
  Nanos depth_;
  Nanos empty_at_ = 0;  // since then the bucket has been filling
};

// A source that the plan names.
struct Guest {
  IpAddress address;
  std::uint32_t pings_per_second = 0;  // what the plan lets it send to this host; rounded up
};
using Guests = std::vector<Guest>;  // ascending by address, without duplicates

class GuestList {
 public:
  static constexpr std::uint32_t kStrangersPerSecond = 1000;
  // A guest may send twice what the plan says, as it does after a stall, and this in addition: for
  // bursts, for `pingloom ping`, and while a new plan has reached the guest but not this host.
  static constexpr std::uint32_t kSlackPerSecond = 50;
  // A guest may send the PINGs of two seconds at once, because this process may have stalled. It
  // may always send this many at once, which is two bursts.
  static constexpr std::uint32_t kMinAtOnce = 200;
  static constexpr std::uint32_t kMaxRate = 1'000'000;

  void setKnown(std::shared_ptr<const Guests> known) {
    known_ = std::move(known);
    buckets_.clear();
    if (known_ == nullptr) return;
    buckets_.reserve(known_->size());
    for (const Guest& guest : *known_) {
      const std::uint32_t planned = std::min(guest.pings_per_second, kMaxRate);
      const std::uint32_t rate = 2 * planned + kSlackPerSecond;
      buckets_.emplace_back(rate, std::max(2 * rate, kMinAtOnce));
    }
  }

  bool admits(const IpAddress& source, Nanos now) {
    if (known_ == nullptr) return strangers_.take(now);
    const auto guest = std::lower_bound(
        known_->begin(), known_->end(), source,
        [](const Guest& known, const IpAddress& address) { return known.address < address; });
    if (guest == known_->end() || guest->address != source) return strangers_.take(now);
    return buckets_[static_cast<std::size_t>(guest - known_->begin())].take(now);
  }

 private:
  std::shared_ptr<const Guests> known_;  // nullptr means none
  std::vector<TokenBucket> buckets_;     // [i] belongs to (*known_)[i]
  TokenBucket strangers_{kStrangersPerSecond, kStrangersPerSecond};
};

}  // namespace pingloom::probe
