#include "rdma/soft/trace_sockets.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <span>

#include "common/log.h"
#include "rdma/soft/expired.h"
#include "rdma/soft/icrc.h"
#include "rdma/soft/packet.h"

namespace pingloom::rdma::soft {
namespace {

// <linux/in6.h> and <netinet/in.h> cannot both be included.
constexpr int kIpv6FlowInfoSend = 33;  // IPV6_FLOWINFO_SEND

}  // namespace

Result<std::unique_ptr<TraceSockets>> TraceSockets::create(const IpAddress& address,
                                                           std::uint32_t qpn,
                                                           const std::string& interface) {
  UniqueFd epoll(epoll_create1(EPOLL_CLOEXEC));
  if (!epoll.valid()) return makeErrnoError(address.text(), "epoll_create1", errno);
  return std::unique_ptr<TraceSockets>(new TraceSockets(std::move(epoll), address, qpn, interface));
}

bool TraceSockets::send(std::uint16_t source_port, std::uint32_t ipv6_label,
                        const UdMessage& message) {
  const IpAddress to = message.path.gid.address();
  if (to.isV4() != address_.isV4()) return false;
  net::UdpSocket* socket = socketOf(source_port);
  if (socket == nullptr) {
    ++without_port_;
    return false;
  }
  write(source_port, message);
  net::Destination target = net::destinationOf(to, kRoceUdpPort);
  if (socket->isV6()) target.address.sin6_flowinfo = htonl(ipv6_label & 0xFFFFF);
  const auto control = net::makeControl({.timestamp = false,
                                         .traffic_class = message.path.traffic_class,
                                         .hop_limit = message.path.hop_limit,
                                         .from = std::nullopt,
                                         .segment_bytes = 0},
                                        socket->isV6());
  iovec piece{packet_.data(), packet_.size()};
  outbox_.addInPlace(target.address, target.length, control, {&piece, 1}, {});
  bool failed = false;
  outbox_.flush(*socket, scratch_, [&](net::TxTag, int) { failed = true; });
  outbox_.clear();
  collect(*socket);  // a send reads the error queue if it finds an error
  return !failed;
}

void TraceSockets::write(std::uint16_t source_port, const UdMessage& message) {
  const auto psn = static_cast<std::uint32_t>(sent_++) & kMask24;
  const Packet packet = udPacket(message.qpn, psn, {message.q_key, qpn_}, message.payload);
  packet_.resize(wireBytes(packet));
  soft::write(packet, packet_);
  IcrcFlow(address_, source_port, message.path.gid.address(), kRoceUdpPort).seal(packet_);
}

Result<net::UdpSocket> TraceSockets::open(std::uint16_t port) const {
  net::UdpSocketOptions options;
  options.unfragmented = true;
  options.deaf = true;
  auto opened = net::UdpSocket::bind(address_, port, options);
  if (!opened) return opened;
  const int fd = opened->descriptor();
  const auto length = static_cast<socklen_t>(interface_.size());
  if (length != 0 && setsockopt(fd, SOL_SOCKET, SO_BINDTODEVICE, interface_.data(), length) != 0 &&
      errno != EPERM) {  // before Linux 5.7 that takes CAP_NET_RAW
    return makeErrnoError(interface_, "SO_BINDTODEVICE", errno);
  }
  if (!opened->isV6()) return opened;
  // The label of the IPv6 header is the sender's own, and not the kernel's hash.
  const int off = 0, on = 1;
  if (setsockopt(fd, IPPROTO_IPV6, IPV6_AUTOFLOWLABEL, &off, sizeof off) != 0 ||
      setsockopt(fd, IPPROTO_IPV6, kIpv6FlowInfoSend, &on, sizeof on) != 0) {
    return makeErrnoError(address_.text(), "IPv6 flow label", errno);
  }
  return opened;
}

net::UdpSocket* TraceSockets::socketOf(std::uint16_t port) {
  const auto known = std::find_if(sockets_.begin(), sockets_.end(),
                                  [&](const PortSocket& one) { return one.port == port; });
  if (known != sockets_.end()) {
    known->used = sent_;
    return &known->socket;
  }
  auto opened = open(port);
  if (!opened) {
    if (without_port_ == 0) {
      log::warning("rdma {}: flows from UDP port {} are not traced: {}", address_.text(), port,
                   opened.error().text());
    }
    return nullptr;
  }
  epoll_event event{};
  event.events = EPOLLIN;  // errors are always reported; a deaf socket is never readable
  event.data.u32 = port;
  if (epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, opened->descriptor(), &event) != 0) return nullptr;
  if (sockets_.size() >= kMaxSockets) {
    sockets_.erase(std::min_element(sockets_.begin(), sockets_.end(),
                                    [](const auto& a, const auto& b) { return a.used < b.used; }));
  }
  sockets_.push_back({port, sent_, std::move(*opened)});
  return &sockets_.back().socket;
}

void TraceSockets::collect(net::UdpSocket& socket) {
  for (const net::Bounce& bounce : socket.bounces()) {
    const auto expired = expiredPacket(bounce);
    if (expired && expired->qpn == qpn_ && expired_.size() < kMaxExpired) {
      expired_.push_back(expired->what);
    } else {
      ++other_errors_;
    }
  }
  socket.bounces().clear();
}

void TraceSockets::readErrors() {
  std::array<epoll_event, kMaxSockets> ready;
  const int count = epoll_wait(epoll_.get(), ready.data(), static_cast<int>(ready.size()), 0);
  for (int i = 0; i < count; ++i) {
    const std::uint32_t port = ready[static_cast<std::size_t>(i)].data.u32;
    const auto found = std::find_if(sockets_.begin(), sockets_.end(),
                                    [&](const PortSocket& one) { return one.port == port; });
    if (found == sockets_.end()) continue;
    found->socket.readErrors(scratch_);
    // An error may be pending without an entry in the queue, and would keep the socket ready.
    int pending = 0;
    socklen_t length = sizeof pending;
    getsockopt(found->socket.descriptor(), SOL_SOCKET, SO_ERROR, &pending, &length);
    collect(found->socket);
  }
}

void TraceSockets::takeExpired(std::vector<UdExpired>& expired) {
  expired.insert(expired.end(), expired_.begin(), expired_.end());
  expired_.clear();
}

}  // namespace pingloom::rdma::soft
