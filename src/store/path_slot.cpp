#include "store/path_slot.h"

#include <algorithm>

#include "store/little_endian.h"

namespace pingloom::store {
namespace {

constexpr std::size_t kHopsOffset = 2;
constexpr std::size_t kFlagsOffset = 3;
constexpr std::size_t kChangesOffset = 4;
constexpr std::uint8_t kCompleteFlag = 1;

}  // namespace

void encodePath(const Table& table, const Path& path, std::span<std::uint8_t> out) {
  std::fill(out.begin(), out.end(), 0);
  putLittle(out, 0, path.present);
  out[kHopsOffset] = path.hops;
  out[kFlagsOffset] = path.complete() ? kCompleteFlag : 0;
  putLittle(out, kChangesOffset, path.changes);
  const std::size_t each = pathHopBytes(table.identity_bytes);
  for (std::size_t i = 0; i < table.hops; ++i) {
    if (!path.has(i)) continue;
    const auto place = out.subspan(kPathHeadBytes + i * each, each);
    std::copy_n(path.hop[i].identity.begin(), table.identity_bytes, place.begin());
    putLittle(place, table.identity_bytes, path.hop[i].rtt_ns);
  }
}

Path decodePath(const Table& table, std::span<const std::uint8_t> value) {
  Path path;
  path.present = static_cast<std::uint16_t>(getLittle<std::uint16_t>(value, 0) &
                                            Path::maskOf(static_cast<std::uint8_t>(table.hops)));
  path.hops = std::min(value[kHopsOffset], static_cast<std::uint8_t>(table.hops));
  path.changes = getLittle<std::uint32_t>(value, kChangesOffset);
  const std::size_t each = pathHopBytes(table.identity_bytes);
  for (std::size_t i = 0; i < table.hops; ++i) {
    if (!path.has(i)) continue;
    const auto place = value.subspan(kPathHeadBytes + i * each, each);
    std::copy_n(place.begin(), table.identity_bytes, path.hop[i].identity.begin());
    path.hop[i].rtt_ns = getLittle<std::uint32_t>(place, table.identity_bytes);
  }
  return path;
}

}  // namespace pingloom::store
