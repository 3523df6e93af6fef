#include "wire/read_exchange.h"

#include <endian.h>

#include <algorithm>
#include <cstring>

namespace pingloom::wire {
namespace {

constexpr std::uint32_t kReadMagic = 0x504C5244;
constexpr std::uint8_t kReadVersion = 1;
constexpr std::uint32_t kMask24 = 0xFFFFFF;

}  // namespace

std::array<std::uint8_t, kReadExchangeBytes> bytesOf(const ReadExchange& exchange) {
  ReadExchangeLayout layout{};
  layout.magic = htobe32(kReadMagic);
  layout.version = kReadVersion;
  layout.type = static_cast<std::uint8_t>(exchange.type);
  layout.status = static_cast<std::uint8_t>(exchange.status);
  layout.reads = exchange.reads;
  layout.lid = htobe16(exchange.lid);
  layout.qpn = htobe32(exchange.qpn);
  layout.gid = exchange.gid;
  layout.psn = htobe32(exchange.psn);
  layout.mtu = htobe32(exchange.mtu);
  layout.address = htobe64(exchange.address);
  layout.length = htobe64(exchange.length);
  layout.pattern = htobe64(exchange.pattern);
  layout.rkey = htobe32(exchange.rkey);
  std::copy_n(exchange.text.begin(), std::min(exchange.text.size(), layout.text.size()),
              layout.text.begin());
  std::array<std::uint8_t, kReadExchangeBytes> bytes;
  std::memcpy(bytes.data(), &layout, sizeof layout);
  return bytes;
}

ReadExchangeParse parse(std::span<const std::uint8_t> bytes, ReadExchange& out) {
  if (bytes.size() != kReadExchangeBytes) return ReadExchangeParse::kNone;
  ReadExchangeLayout layout;
  std::memcpy(&layout, bytes.data(), sizeof layout);
  if (be32toh(layout.magic) != kReadMagic) return ReadExchangeParse::kNone;
  if (layout.version != kReadVersion) return ReadExchangeParse::kVersion;
  if (layout.type < 1 || layout.type > 2) return ReadExchangeParse::kNone;
  if (layout.status > static_cast<std::uint8_t>(ReadExchangeStatus::kVersion)) {
    return ReadExchangeParse::kNone;
  }
  out.type = static_cast<ReadExchangeType>(layout.type);
  out.status = static_cast<ReadExchangeStatus>(layout.status);
  out.reads = layout.reads;
  out.lid = be16toh(layout.lid);
  out.qpn = be32toh(layout.qpn) & kMask24;
  out.gid = layout.gid;
  out.psn = be32toh(layout.psn) & kMask24;
  out.mtu = be32toh(layout.mtu);
  out.address = be64toh(layout.address);
  out.length = be64toh(layout.length);
  out.pattern = be64toh(layout.pattern);
  out.rkey = be32toh(layout.rkey);
  out.text.assign(layout.text.begin(), std::find(layout.text.begin(), layout.text.end(), '\0'));
  return ReadExchangeParse::kOk;
}

bool isRegionName(std::string_view name) {
  constexpr std::string_view kAllowed = "abcdefghijklmnopqrstuvwxyz0123456789-_.";
  return !name.empty() && name.size() <= kRegionNameBytes &&
         name.find_first_not_of(kAllowed) == std::string_view::npos;
}

}  // namespace pingloom::wire
