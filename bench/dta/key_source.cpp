#include "key_source.h"

#include <algorithm>

#include "wire/big_endian.h"

namespace pingloom::bench {

FlowKey flowKey(std::uint32_t number) {
  constexpr std::uint8_t kUdp = 17;
  constexpr std::uint16_t kRoce = 4791;
  FlowKey key{kUdp};
  wire::storeBe32(&key[1], 0x0a000000 + number / 64);
  wire::storeBe32(&key[5], 0x0a800000 + number % 8192);
  wire::storeBe16(&key[9], static_cast<std::uint16_t>(49152 + number % 64));
  wire::storeBe16(&key[11], kRoce);
  return key;
}

KeySource::KeySource(std::uint32_t keys, Spread spread, std::uint64_t seed)
    : keys_(keys), spread_(spread), last_(keys - 1), random_(seed) {
  if (spread != Spread::kZipf) return;
  double sum = 0;
  shares_.reserve(keys);
  for (std::uint32_t i = 1; i <= keys; ++i) shares_.push_back(sum += 1.0 / i);
}

std::uint32_t KeySource::next() {
  if (spread_ == Spread::kInTurn) return last_ = (last_ + 1) % keys_;
  if (spread_ == Spread::kUniform) return static_cast<std::uint32_t>(random_() % keys_);
  const double at = std::uniform_real_distribution<>(0, shares_.back())(random_);
  const auto found = std::upper_bound(shares_.begin(), shares_.end(), at);
  return std::min(static_cast<std::uint32_t>(found - shares_.begin()), keys_ - 1);
}

}  // namespace pingloom::bench
