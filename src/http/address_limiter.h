// Token buckets by source address. All IPv6 addresses of a /64 are one source, because a host can
// use as many of them as it likes. Time is passed in; one thread at a time.
#pragma once

#include <cstdint>
#include <unordered_map>

#include "common/address.h"
#include "common/time.h"

namespace pingloom::http {

// Returns the source that an address belongs to.
IpAddress sourceOf(const IpAddress& address);

class AddressLimiter {
 public:
  // The most sources with a bucket of their own. At the limit, sources with a full bucket are
  // forgotten; where no bucket is full, new sources share one bucket.
  static constexpr std::size_t kMaxSources = 4096;

  // Allows `burst` at once, and `per_second` in the long run.
  AddressLimiter(double per_second, double burst) : per_second_(per_second), burst_(burst) {}

  // Takes `cost` if the bucket holds as much. REQUIRES: cost <= burst.
  bool take(const IpAddress& address, double cost, Nanos now_mono);
  // Takes a cost that has been incurred already; the debt saturates at one `burst`.
  void charge(const IpAddress& address, double cost, Nanos now_mono);
  std::size_t sources() const { return buckets_.size(); }

 private:
  struct Bucket {
    double level = 0;
    Nanos filled_mono = 0;
  };
  double levelOf(const Bucket& bucket, Nanos now_mono) const;
  Bucket& bucketOf(const IpAddress& address, Nanos now_mono);
  void forgetFull(Nanos now_mono);

  const double per_second_;
  const double burst_;
  std::unordered_map<IpAddress, Bucket, IpAddressHash> buckets_;
  Bucket shared_;  // for sources without a bucket of their own; full at first
  Nanos swept_mono_ = 0;
};

}  // namespace pingloom::http
