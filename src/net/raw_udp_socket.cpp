#include "net/raw_udp_socket.h"

#include <linux/filter.h>
#include <linux/net_tstamp.h>
#include <netinet/in.h>
#include <netinet/ip.h>
#include <netinet/udp.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <string>
#include <utility>

#include "net/socket_options.h"
#include "net/udp_socket.h"

namespace pingloom::net {
namespace {

// Makes the socket receive only datagrams to `port`, whatever the IP header's length.
bool attachPortFilter(int fd, std::uint16_t port) {
  std::array<sock_filter, 5> program = {{
      {BPF_LDX | BPF_B | BPF_MSH, 0, 0, 0},
      {BPF_LD | BPF_H | BPF_IND, 0, 0, offsetof(udphdr, dest)},
      {BPF_JMP | BPF_JEQ | BPF_K, 0, 1, port},
      {BPF_RET | BPF_K, 0, 0, IP_MAXPACKET},
      {BPF_RET | BPF_K, 0, 0, 0},
  }};
  const sock_fprog filter = {program.size(), program.data()};
  return setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, &filter, sizeof filter) == 0;
}

}  // namespace

Result<RawUdpSocket> RawUdpSocket::bind(const IpAddress& address, std::uint16_t port) {
  const std::string entity = "raw udp " + SocketAddress{address, port}.text();
  UniqueFd fd(::socket(AF_INET, SOCK_RAW | SOCK_NONBLOCK | SOCK_CLOEXEC, IPPROTO_UDP));
  if (!fd.valid()) return makeErrnoError(entity, "cannot open a raw socket", errno);
  enlarge(fd.get(), SO_RCVBUF, SO_RCVBUFFORCE, UdpSocket::kBufferBytes);
  if (!attachPortFilter(fd.get(), port) ||
      !setOptionIfKnown(fd.get(), SOL_SOCKET, SO_RXQ_OVFL, 1) ||
      !setOptionIfKnown(fd.get(), SOL_SOCKET, SO_TIMESTAMPING,
                        SOF_TIMESTAMPING_RX_SOFTWARE | SOF_TIMESTAMPING_SOFTWARE)) {
    return makeErrnoError(entity, "cannot set an option", errno);
  }
  sockaddr_storage local{};
  const socklen_t length = address.toSockaddr(0, local);
  if (::bind(fd.get(), reinterpret_cast<const sockaddr*>(&local), length) != 0) {
    return makeErrnoError(entity, "cannot bind", errno);
  }
  return RawUdpSocket(std::move(fd));
}

std::uint64_t RawUdpSocket::newlyDropped(std::uint32_t count) {
  return count - std::exchange(dropped_, count);
}

}  // namespace pingloom::net
