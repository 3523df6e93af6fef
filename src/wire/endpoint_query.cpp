#include "wire/endpoint_query.h"

#include <endian.h>

#include <algorithm>
#include <cstring>

namespace pingloom::wire {
namespace {

constexpr std::uint16_t kQueryMagic = 0x5051;
constexpr std::uint8_t kQueryVersion = 1;
constexpr std::uint32_t kQueryQpnMask = 0xFFFFFF;

}  // namespace

std::array<std::uint8_t, kEndpointQueryBytes> bytesOf(const EndpointQuery& query) {
  EndpointQueryLayout layout{};
  layout.magic = htobe16(kQueryMagic);
  layout.version = kQueryVersion;
  layout.type = static_cast<std::uint8_t>(query.type);
  layout.clock = query.clock;
  layout.lid = htobe16(query.lid);
  layout.nonce = htobe64(query.nonce);
  layout.gid = query.gid;
  layout.qpn = htobe32(query.qpn);
  layout.q_key = htobe32(query.q_key);
  std::copy_n(query.device.begin(), std::min(query.device.size(), layout.device.size()),
              layout.device.begin());
  std::array<std::uint8_t, kEndpointQueryBytes> bytes;
  std::memcpy(bytes.data(), &layout, sizeof layout);
  return bytes;
}

bool isEndpointQuery(std::span<const std::uint8_t> bytes) {
  return bytes.size() >= 2 && bytes[0] == kQueryMagic >> 8 && bytes[1] == (kQueryMagic & 0xFF);
}

bool parse(std::span<const std::uint8_t> bytes, EndpointQuery& out) {
  if (bytes.size() != kEndpointQueryBytes || !isEndpointQuery(bytes)) return false;
  EndpointQueryLayout layout;
  std::memcpy(&layout, bytes.data(), sizeof layout);
  if (layout.version != kQueryVersion || layout.type < 1 || layout.type > 2) return false;
  out.type = static_cast<EndpointQueryType>(layout.type);
  out.clock = layout.clock;
  out.lid = be16toh(layout.lid);
  out.nonce = be64toh(layout.nonce);
  out.gid = layout.gid;
  out.qpn = be32toh(layout.qpn) & kQueryQpnMask;
  out.q_key = be32toh(layout.q_key);
  const auto end = std::find(layout.device.begin(), layout.device.end(), '\0');
  out.device.assign(layout.device.begin(), end);
  return true;
}

}  // namespace pingloom::wire
