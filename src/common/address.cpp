#include "common/address.h"

#include <arpa/inet.h>

#include <cstring>

#include "common/text.h"

namespace pingloom {

IpAddress IpAddress::fromV4(std::uint32_t host_order) {
  IpAddress made;
  const std::uint32_t network = htonl(host_order);
  std::memcpy(made.bytes_.data(), &network, 4);
  return made;
}

IpAddress IpAddress::fromBytes16(const std::uint8_t* bytes) {
  IpAddress made;
  static constexpr std::array<std::uint8_t, 12> kMapped = {0, 0, 0, 0, 0,    0,
                                                           0, 0, 0, 0, 0xff, 0xff};
  if (std::memcmp(bytes, kMapped.data(), kMapped.size()) == 0) {
    std::memcpy(made.bytes_.data(), bytes + 12, 4);
    return made;
  }
  made.family_ = 6;
  std::memcpy(made.bytes_.data(), bytes, 16);
  return made;
}

Result<IpAddress> IpAddress::fromWire(std::string_view bytes) {
  if (bytes.size() == 4) {
    IpAddress made;
    std::memcpy(made.bytes_.data(), bytes.data(), 4);
    return made;
  }
  if (bytes.size() == 16) return fromBytes16(reinterpret_cast<const std::uint8_t*>(bytes.data()));
  return makeError("address", "has neither 4 nor 16 bytes");
}

Result<IpAddress> IpAddress::parse(std::string_view text) {
  const std::string terminated(text);
  in_addr v4{};
  if (inet_pton(AF_INET, terminated.c_str(), &v4) == 1) return fromV4(ntohl(v4.s_addr));
  in6_addr v6{};
  if (inet_pton(AF_INET6, terminated.c_str(), &v6) == 1) return fromBytes16(v6.s6_addr);
  return makeError("address '" + terminated + "'", "not an IPv4 or IPv6 address");
}

IpAddress IpAddress::fromSockaddr(const sockaddr* address) {
  if (address->sa_family == AF_INET6) {
    return fromBytes16(reinterpret_cast<const sockaddr_in6*>(address)->sin6_addr.s6_addr);
  }
  return fromV4(ntohl(reinterpret_cast<const sockaddr_in*>(address)->sin_addr.s_addr));
}

bool IpAddress::isUnspecified() const { return bytes_ == std::array<std::uint8_t, 16>{}; }

bool IpAddress::isLoopback() const {
  if (isV4()) return bytes_[0] == 127;
  std::array<std::uint8_t, 16> loopback{};
  loopback[15] = 1;
  return bytes_ == loopback;
}

bool IpAddress::isLinkLocal() const {
  if (isV4()) return bytes_[0] == 169 && bytes_[1] == 254;
  return bytes_[0] == 0xfe && (bytes_[1] & 0xc0) == 0x80;
}

std::uint32_t IpAddress::v4() const {
  std::uint32_t network = 0;
  std::memcpy(&network, bytes_.data(), 4);
  return ntohl(network);
}

std::string IpAddress::wire() const {
  return {reinterpret_cast<const char*>(bytes_.data()), isV4() ? 4U : 16U};
}

std::string IpAddress::text() const {
  std::array<char, INET6_ADDRSTRLEN> buffer{};
  inet_ntop(isV4() ? AF_INET : AF_INET6, bytes_.data(), buffer.data(), buffer.size());
  return buffer.data();
}

Result<IpAddress> IpAddress::plus(std::uint64_t step) const {
  IpAddress sum = *this;
  for (int i = isV4() ? 3 : 15; i >= 0 && step != 0; --i) {
    const auto index = static_cast<std::size_t>(i);
    const std::uint64_t total = sum.bytes_[index] + (step & 0xff);
    sum.bytes_[index] = static_cast<std::uint8_t>(total);
    step = (step >> 8) + (total >> 8);
  }
  if (step != 0) return makeError("address " + text(), "the range runs past the last address");
  return sum;
}

socklen_t IpAddress::toSockaddr(std::uint16_t port, sockaddr_storage& out) const {
  std::memset(&out, 0, sizeof out);
  if (isV4()) {
    auto* v4_out = reinterpret_cast<sockaddr_in*>(&out);
    v4_out->sin_family = AF_INET;
    v4_out->sin_port = htons(port);
    std::memcpy(&v4_out->sin_addr, bytes_.data(), 4);
    return sizeof(sockaddr_in);
  }
  auto* v6_out = reinterpret_cast<sockaddr_in6*>(&out);
  v6_out->sin6_family = AF_INET6;
  v6_out->sin6_port = htons(port);
  std::memcpy(&v6_out->sin6_addr, bytes_.data(), 16);
  return sizeof(sockaddr_in6);
}

Result<SocketAddress> SocketAddress::parse(std::string_view text) {
  const std::string entity = "'" + std::string(text) + "'";
  const auto colon = text.rfind(':');
  if (colon == std::string_view::npos) return makeError(entity, "not ADDRESS:PORT");
  std::string_view host = text.substr(0, colon);
  const bool bracketed = host.size() >= 2 && host.front() == '[' && host.back() == ']';
  if (bracketed) host = host.substr(1, host.size() - 2);
  auto address = IpAddress::parse(host);
  if (!address) return makeError(entity, "not ADDRESS:PORT");
  if (!address->isV4() && !bracketed) return makeError(entity, "write IPv6 as [ADDRESS]:PORT");
  auto port = parseUnsigned(text.substr(colon + 1), 65535);
  if (!port) return makeError(entity, "the port is not a number up to 65535");
  return SocketAddress{*address, static_cast<std::uint16_t>(*port)};
}

SocketAddress SocketAddress::fromSockaddr(const sockaddr* address) {
  const std::uint16_t port = address->sa_family == AF_INET6
                                 ? reinterpret_cast<const sockaddr_in6*>(address)->sin6_port
                                 : reinterpret_cast<const sockaddr_in*>(address)->sin_port;
  return {IpAddress::fromSockaddr(address), ntohs(port)};
}

std::string SocketAddress::text() const {
  const std::string host = address.isV4() ? address.text() : "[" + address.text() + "]";
  return host + ":" + std::to_string(port);
}

}  // namespace pingloom
