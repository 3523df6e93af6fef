#include "net/raw_udp_socket.h"

#include <linux/filter.h>
#include <linux/net_tstamp.h>
#include <netinet/in.h>
#include <netinet/ip.h>
#include <netinet/udp.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <span>
#include <string>
#include <utility>

#include "net/socket_options.h"
#include "net/udp_socket.h"

namespace pingloom::net {
namespace {

bool attach(int fd, std::span<sock_filter> program) {
  const sock_fprog filter = {static_cast<unsigned short>(program.size()), program.data()};
  return setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, &filter, sizeof filter) == 0;
}

// Makes the socket receive only datagrams to `port`, whatever the IP header's length.
bool attachPortFilter(int fd, std::uint16_t port) {
  std::array<sock_filter, 5> program = {{
      {BPF_LDX | BPF_B | BPF_MSH, 0, 0, 0},
      {BPF_LD | BPF_H | BPF_IND, 0, 0, offsetof(udphdr, dest)},
      {BPF_JMP | BPF_JEQ | BPF_K, 0, 1, port},
      {BPF_RET | BPF_K, 0, 0, IP_MAXPACKET},
      {BPF_RET | BPF_K, 0, 0, 0},
  }};
  return attach(fd, program);
}

// Does the same for a share of these datagrams.
bool attachShareFilter(int fd, std::uint16_t port, const PayloadShare& share) {
  const auto field = static_cast<std::uint32_t>(sizeof(udphdr)) + share.field.offset;
  std::array<sock_filter, 9> program = {{
      {BPF_LDX | BPF_B | BPF_MSH, 0, 0, 0},
      {BPF_LD | BPF_H | BPF_IND, 0, 0, offsetof(udphdr, dest)},
      {BPF_JMP | BPF_JEQ | BPF_K, 0, 5, port},
      {BPF_LD | BPF_W | BPF_IND, 0, 0, field},
      {BPF_ALU | BPF_AND | BPF_K, 0, 0, share.field.mask},
      {BPF_ALU | BPF_MOD | BPF_K, 0, 0, share.sockets},
      {BPF_JMP | BPF_JEQ | BPF_K, 0, 1, share.index},
      {BPF_RET | BPF_K, 0, 0, IP_MAXPACKET},
      {BPF_RET | BPF_K, 0, 0, 0},
  }};
  return attach(fd, program);
}

// A raw socket receives every host's UDP packets from its creation until it is filtered and bound.
void dropWaiting(int descriptor) {
  constexpr int kMost = 1 << 16;  // a flood of packets that do match ends this, too
  char byte = 0;
  for (int i = 0; i < kMost && ::recv(descriptor, &byte, 1, MSG_DONTWAIT) >= 0; ++i) {
  }
}

}  // namespace

Result<RawUdpSocket> RawUdpSocket::bind(const IpAddress& address, std::uint16_t port,
                                        const PayloadShare& share) {
  const std::string entity = "raw udp " + SocketAddress{address, port}.text();
  UniqueFd fd(::socket(AF_INET, SOCK_RAW | SOCK_NONBLOCK | SOCK_CLOEXEC, IPPROTO_UDP));
  if (!fd.valid()) return makeErrnoError(entity, "cannot open a raw socket", errno);
  enlarge(fd.get(), SO_RCVBUF, SO_RCVBUFFORCE, UdpSocket::kBufferBytes);
  const bool filtered = share.sockets == 1 ? attachPortFilter(fd.get(), port)
                                           : attachShareFilter(fd.get(), port, share);
  if (!filtered || !setOptionIfKnown(fd.get(), SOL_SOCKET, SO_RXQ_OVFL, 1) ||
      !setOptionIfKnown(fd.get(), SOL_SOCKET, SO_TIMESTAMPING,
                        SOF_TIMESTAMPING_RX_SOFTWARE | SOF_TIMESTAMPING_SOFTWARE)) {
    return makeErrnoError(entity, "cannot set an option", errno);
  }
  sockaddr_storage local{};
  const socklen_t length = address.toSockaddr(0, local);
  if (::bind(fd.get(), reinterpret_cast<const sockaddr*>(&local), length) != 0) {
    return makeErrnoError(entity, "cannot bind", errno);
  }
  dropWaiting(fd.get());
  return RawUdpSocket(std::move(fd));
}

std::uint64_t RawUdpSocket::newlyDropped(std::uint32_t count) {
  return count - std::exchange(dropped_, count);
}

}  // namespace pingloom::net
