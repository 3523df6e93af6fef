// Token buckets by source address. Of IPv6, all addresses of a /64 are one source: a host has as
// many as it likes. Time is passed in; one thread at a time.
#pragma once

#include <cstdint>
#include <unordered_map>

#include "common/address.h"
#include "common/time.h"

namespace pingloom::http {

// Which source an address counts as.
IpAddress sourceOf(const IpAddress& address);

class AddressLimiter {
 public:
  // Sources with a bucket of their own. When there are as many, those whose bucket is full again
  // are forgotten; where there is none, new sources share one bucket.
  static constexpr std::size_t kMaxSources = 4096;

  // `burst` at once, and `per_second` in the long run.
  AddressLimiter(double per_second, double burst) : per_second_(per_second), burst_(burst) {}

  // Takes `cost`, which is not above `burst`, if that much is there.
  bool take(const IpAddress& address, double cost, Nanos now_mono);
  // What it has cost already, which may leave a debt of up to one `burst`.
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
  Bucket shared_;  // of sources that found no place; full at first
  Nanos swept_mono_ = 0;
};

}  // namespace pingloom::http
