#include "net/udp_socket.h"

#include <linux/filter.h>
#include <linux/net_tstamp.h>
#include <netinet/in.h>
#include <netinet/udp.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "net/socket_options.h"

namespace pingloom::net {
namespace {

constexpr int kTimestamping =
    SOF_TIMESTAMPING_RX_SOFTWARE | SOF_TIMESTAMPING_SOFTWARE | SOF_TIMESTAMPING_OPT_TSONLY;
constexpr int kUdpNoCheck6Rx = 102;  // UDP_NO_CHECK6_RX; <linux/udp.h> clashes with <netinet/udp.h>

// The address that a datagram was sent to is requested only if it may not be the socket's own.
bool setV4Options(int fd, bool wildcard) {
  return setOption(fd, IPPROTO_IP, IP_PKTINFO, wildcard ? 1 : 0) &&
         setOption(fd, IPPROTO_IP, IP_RECVTOS, 1) && setOption(fd, IPPROTO_IP, IP_RECVERR, 1);
}

bool setV6Options(int fd, bool wildcard) {
  return setOption(fd, IPPROTO_IPV6, IPV6_V6ONLY, 1) &&
         setOption(fd, IPPROTO_IPV6, IPV6_RECVPKTINFO, wildcard ? 1 : 0) &&
         setOption(fd, IPPROTO_IPV6, IPV6_RECVTCLASS, 1) &&
         setOption(fd, IPPROTO_IPV6, IPV6_RECVERR, 1);
}

// Only the modes DO and PROBE set DF and leave IPv4's ID at 0. Only PROBE ignores ICMP messages
// about the path MTU, which anyone can forge.
bool setUnfragmented(int fd, bool v4) {
  if (v4) return setOption(fd, IPPROTO_IP, IP_MTU_DISCOVER, IP_PMTUDISC_PROBE);
  return setOption(fd, IPPROTO_IPV6, IPV6_MTU_DISCOVER, IPV6_PMTUDISC_PROBE) &&
         setOption(fd, IPPROTO_IPV6, IPV6_DONTFRAG, 1);
}

bool makeDeaf(int fd) {
  sock_filter nothing = {BPF_RET | BPF_K, 0, 0, 0};
  const sock_fprog filter = {1, &nothing};
  return setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, &filter, sizeof filter) == 0;
}

bool apply(const UdpSocketOptions& options, int fd, bool v4) {
  return (!options.unfragmented || setUnfragmented(fd, v4)) &&
         (!options.accept_no_checksum || v4 || setOption(fd, IPPROTO_UDP, kUdpNoCheck6Rx, 1)) &&
         (!options.deaf || makeDeaf(fd)) &&
         (!options.joins || setOption(fd, SOL_SOCKET, SO_REUSEPORT, 1)) &&
         (!options.coalesced || setOptionIfKnown(fd, IPPROTO_UDP, UDP_GRO, 1));
}

}  // namespace

Result<UdpSocket> UdpSocket::bind(const IpAddress& address, std::uint16_t port,
                                  const UdpSocketOptions& options) {
  const std::string entity = "udp " + SocketAddress{address, port}.text();
  UniqueFd fd(
      ::socket(address.isV4() ? AF_INET : AF_INET6, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!fd.valid()) return makeErrnoError(entity, "cannot open a socket", errno);
  enlarge(fd.get(), SO_RCVBUF, SO_RCVBUFFORCE, kBufferBytes);
  enlarge(fd.get(), SO_SNDBUF, SO_SNDBUFFORCE, kBufferBytes);
  const bool wildcard = address.isUnspecified();
  const bool set =
      (address.isV4() ? setV4Options(fd.get(), wildcard) : setV6Options(fd.get(), wildcard)) &&
      setOptionIfKnown(fd.get(), SOL_SOCKET, SO_RXQ_OVFL, 1) &&
      setOptionIfKnown(fd.get(), SOL_SOCKET, SO_TIMESTAMPING,
                       kTimestamping | SOF_TIMESTAMPING_OPT_ID) &&
      apply(options, fd.get(), address.isV4());
  if (!set) return makeErrnoError(entity, "cannot set an option", errno);
  sockaddr_storage local{};
  const socklen_t length = address.toSockaddr(port, local);
  if (::bind(fd.get(), reinterpret_cast<const sockaddr*>(&local), length) != 0) {
    if (errno == EADDRINUSE && !options.port_taken.empty()) {
      return makeError(entity, options.port_taken);
    }
    return makeErrnoError(entity, "cannot bind", errno);
  }
  return UdpSocket(std::move(fd), address);
}

std::uint64_t UdpSocket::newlyDropped(std::uint32_t count) {
  return count - std::exchange(dropped_, count);
}

void UdpSocket::readErrors(RxBatch& batch) {
  // Each call takes at least one entry, so this ends. Entries that arrive meanwhile are taken too.
  for (;;) {
    const int got = batch.receive(fd_.get(), MSG_ERRQUEUE);
    if (got <= 0) return;
    for (std::size_t i = 0; i < static_cast<std::size_t>(got); ++i) {
      const Ancillary about = batch.ancillary(i);
      if (about.is_timestamp && about.kernel_utc != 0) {
        if (const auto tag = numbers_.take(about.tx_number)) {
          departures_.push_back({*tag, about.kernel_utc});
        }
      } else if (about.is_icmp) {
        const auto head = batch.head(i);
        Bounce& bounce = bounces_.emplace_back();
        bounce.refused = about.refused;
        bounce.expired = about.expired;
        bounce.sender = about.icmp_sender.value_or(IpAddress());
        bounce.destination = batch.from(i);
        bounce.quoted_bytes = std::min(head.size(), bounce.quoted.size());
        std::copy_n(head.begin(), bounce.quoted_bytes, bounce.quoted.begin());
      }
    }
    if (static_cast<std::size_t>(got) < RxBatch::kMax) return;
  }
}

void UdpSocket::restartNumbers(RxBatch& batch) {
  readErrors(batch);
  // Clearing the option and setting it again resets the kernel's counter.
  setOption(fd_.get(), SOL_SOCKET, SO_TIMESTAMPING, kTimestamping);
  setOption(fd_.get(), SOL_SOCKET, SO_TIMESTAMPING, kTimestamping | SOF_TIMESTAMPING_OPT_ID);
  numbers_.restart();
}

}  // namespace pingloom::net
