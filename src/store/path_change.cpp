#include "store/path_change.h"

#include <algorithm>

#include "wire/big_endian.h"

namespace pingloom::store {

std::span<const std::uint8_t> encodePathChange(const PathChange& change, Nanos utc,
                                               PathChangeEntry& out) {
  wire::storeBe64(out.data(), static_cast<std::uint64_t>(utc));
  out[8] = change.hop;
  out[9] = static_cast<std::uint8_t>(change.key.size());
  out[10] = static_cast<std::uint8_t>(change.before.size());
  out[11] = 0;
  auto* end = std::copy(change.before.begin(), change.before.end(), out.begin() + kPathChangeHead);
  end = std::copy(change.after.begin(), change.after.end(), end);
  end = std::copy(change.key.begin(), change.key.end(), end);
  return std::span(out).first(static_cast<std::size_t>(end - out.begin()));
}

std::optional<ReadPathChange> decodePathChange(std::span<const std::uint8_t> entry) {
  if (entry.size() < kPathChangeHead) return std::nullopt;
  const std::size_t key = entry[9];
  const std::size_t identity = entry[10];
  const bool sane = (identity == kIpv4Bytes || identity == kIpv6Bytes) && key >= 1 &&
                    key <= kMaxKeyBytes && entry[8] < kMaxPathHops && entry[11] == 0;
  if (!sane || kPathChangeHead + 2 * identity + key > entry.size()) return std::nullopt;
  const auto rest = entry.subspan(kPathChangeHead);
  return ReadPathChange{static_cast<Nanos>(wire::loadBe64(entry.data())),
                        {rest.subspan(2 * identity, key), entry[8], rest.first(identity),
                         rest.subspan(identity, identity)}};
}

}  // namespace pingloom::store
