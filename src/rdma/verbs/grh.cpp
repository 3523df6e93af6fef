#include "rdma/verbs/grh.h"

#include <algorithm>

namespace pingloom::rdma::verbs {
namespace {

constexpr std::size_t kV4At = 20;
constexpr std::size_t kV4Bytes = 20;

bool v4ChecksumHolds(std::span<const std::uint8_t> header) {
  std::uint32_t sum = 0;
  for (std::size_t i = 0; i < header.size(); i += 2) {
    sum += static_cast<std::uint32_t>(header[i]) << 8 | header[i + 1];
  }
  while (sum > 0xFFFF) sum = (sum & 0xFFFF) + (sum >> 16);
  return sum == 0xFFFF;
}

GrhFields fromV4(std::span<const std::uint8_t> header) {
  GrhFields fields;
  fields.traffic_class = header[1];
  fields.source.bytes[10] = fields.source.bytes[11] = 0xFF;
  std::copy_n(header.begin() + 12, 4, fields.source.bytes.begin() + 12);
  return fields;
}

GrhFields fromV6(std::span<const std::uint8_t> header) {
  GrhFields fields;
  fields.traffic_class = static_cast<std::uint8_t>(header[0] << 4 | header[1] >> 4);
  fields.flow_label = static_cast<std::uint32_t>(header[1] & 0x0F) << 16 |
                      static_cast<std::uint32_t>(header[2]) << 8 | header[3];
  std::copy_n(header.begin() + 8, fields.source.bytes.size(), fields.source.bytes.begin());
  return fields;
}

}  // namespace

std::optional<GrhFields> parseGrh(std::span<const std::uint8_t, kGrhBytes> area) {
  const auto v4 = area.subspan(kV4At, kV4Bytes);
  const bool may_be_v4 = v4[0] == 0x45;  // version 4 without options
  const bool may_be_v6 = area[0] >> 4 == 6;
  if (may_be_v4 && (!may_be_v6 || v4ChecksumHolds(v4))) return fromV4(v4);
  if (may_be_v6) return fromV6(area);
  return std::nullopt;
}

}  // namespace pingloom::rdma::verbs
