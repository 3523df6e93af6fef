#include "translator/receiver.h"

#include <sys/socket.h>

#include <string_view>

#include "net/udp_group.h"

namespace pingloom::translator {
namespace {

// The kernel may deliver so many bytes of datagrams as one.
constexpr std::size_t kMaxCoalesced = 65'535;
// Longer datagrams of those that are not coalesced are cut off, and refused for their length.
constexpr std::size_t kMaxSingle = 2048;
constexpr std::string_view kPortTaken = "another process listens there";

SocketAddress boundTo(const net::UdpSocket& socket) {
  sockaddr_storage local{};
  socklen_t length = sizeof local;
  getsockname(socket.descriptor(), reinterpret_cast<sockaddr*>(&local), &length);
  return SocketAddress::fromSockaddr(reinterpret_cast<const sockaddr*>(&local));
}

}  // namespace

Receiver::Receiver(net::UdpSocket socket, bool coalesced)
    : socket_(std::move(socket)),
      address_(boundTo(socket_)),
      batch_(coalesced ? kMaxCoalesced : kMaxSingle) {}

Result<Receiver> Receiver::bind(const SocketAddress& listen, bool coalesced) {
  net::UdpSocketOptions options;
  options.coalesced = coalesced;
  options.port_taken = kPortTaken;
  auto socket = net::UdpSocket::bind(listen.address, listen.port, options);
  if (!socket) return tl::unexpected(socket.error());
  return Receiver(std::move(*socket), coalesced);
}

Result<std::vector<Receiver>> Receiver::bindGroup(const SocketAddress& listen, std::uint32_t count,
                                                  const net::PayloadField& field) {
  std::vector<Receiver> made;
  if (count == 1) {
    auto only = bind(listen, true);
    if (!only) return tl::unexpected(only.error());
    made.push_back(std::move(*only));
    return made;
  }
  net::UdpSocketOptions options;
  options.coalesced = true;
  options.port_taken = kPortTaken;
  auto sockets = net::bindGroup(listen.address, listen.port, count, field, options);
  if (!sockets) return tl::unexpected(sockets.error());
  for (net::UdpSocket& socket : *sockets) made.push_back(Receiver(std::move(socket), true));
  return made;
}

std::size_t Receiver::bufferBytes() const {
  int bytes = 0;
  socklen_t length = sizeof bytes;
  getsockopt(socket_.descriptor(), SOL_SOCKET, SO_RCVBUF, &bytes, &length);
  return static_cast<std::size_t>(std::max(bytes, 0));
}

int Receiver::receiveBatch() {
  const int got = batch_.receive(socket_.descriptor(), 0);
  if (got < 0) {
    // A reporter that has ended refuses what it was sent.
    socket_.readErrors(batch_);
    socket_.bounces().clear();
    socket_.departures().clear();
  }
  return got;
}

std::size_t Receiver::noteAncillary(std::size_t index) {
  const net::Ancillary about = batch_.ancillary(index);
  if (about.overflow) overflow_ += socket_.newlyDropped(*about.overflow);
  return about.segment_bytes;
}

void Receiver::send(const SocketAddress& to, std::span<const std::uint8_t> bytes) const {
  sockaddr_storage address{};
  const socklen_t length = to.address.toSockaddr(to.port, address);
  ::sendto(socket_.descriptor(), bytes.data(), bytes.size(), MSG_DONTWAIT | MSG_NOSIGNAL,
           reinterpret_cast<const sockaddr*>(&address), length);
}

}  // namespace pingloom::translator
