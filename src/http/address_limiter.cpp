#include "http/address_limiter.h"

#include <algorithm>

namespace pingloom::http {
namespace {

constexpr Nanos kSweepInterval = kSecond;  // a sweep for each new source would cost too much

}  // namespace

IpAddress sourceOf(const IpAddress& address) {
  if (address.isV4()) return address;
  std::array<std::uint8_t, 16> network = address.bytes();
  std::fill(network.begin() + 8, network.end(), std::uint8_t{0});
  return IpAddress::fromBytes16(network.data());
}

double AddressLimiter::levelOf(const Bucket& bucket, Nanos now_mono) const {
  const double seconds =
      static_cast<double>(now_mono - bucket.filled_mono) / static_cast<double>(kSecond);
  return std::min(burst_, bucket.level + seconds * per_second_);
}

void AddressLimiter::forgetFull(Nanos now_mono) {
  if (swept_mono_ != 0 && now_mono - swept_mono_ < kSweepInterval) return;
  swept_mono_ = now_mono;
  std::erase_if(buckets_,
                [&](const auto& entry) { return levelOf(entry.second, now_mono) >= burst_; });
}

AddressLimiter::Bucket& AddressLimiter::bucketOf(const IpAddress& address, Nanos now_mono) {
  const IpAddress source = sourceOf(address);
  auto found = buckets_.find(source);
  if (found != buckets_.end()) return found->second;
  if (buckets_.size() >= kMaxSources) forgetFull(now_mono);
  if (buckets_.size() >= kMaxSources) {
    if (shared_.filled_mono == 0) shared_ = {burst_, now_mono};
    return shared_;
  }
  return buckets_.emplace(source, Bucket{burst_, now_mono}).first->second;
}

bool AddressLimiter::take(const IpAddress& address, double cost, Nanos now_mono) {
  Bucket& bucket = bucketOf(address, now_mono);
  bucket = {levelOf(bucket, now_mono), now_mono};
  if (bucket.level < cost) return false;
  bucket.level -= cost;
  return true;
}

void AddressLimiter::charge(const IpAddress& address, double cost, Nanos now_mono) {
  Bucket& bucket = bucketOf(address, now_mono);
  bucket = {std::max(-burst_, levelOf(bucket, now_mono) - cost), now_mono};
}

}  // namespace pingloom::http
