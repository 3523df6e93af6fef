// Sends a NIC's UD messages with a hop limit of the caller's choice through the kernel's UDP
// instead: from the NIC's address and from the UDP source port that the NIC uses for the flow, so
// switches send them the same way. Few drivers let their user choose a hop limit, and what routers
// say about a NIC's own packets reaches no program.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "common/address.h"
#include "common/error.h"
#include "common/fd.h"
#include "net/outbox.h"
#include "net/rx_batch.h"
#include "net/udp_socket.h"
#include "rdma/ud_endpoint.h"

namespace pingloom::rdma::soft {

// The destination's answer goes to the queue pair in whose name the message was sent. One thread.
//
// Bounds: the sockets of kMaxSockets ports, about 35 KB each, beyond which the least recently used
// one is closed; kMaxExpired messages that came back between two calls of takeExpired().
class TraceSockets {
 public:
  static constexpr std::size_t kMaxSockets = 64;
  static constexpr std::size_t kMaxExpired = 256;

  // `address` and `qpn` are the queue pair's. Packets leave by `interface`, as the NIC's do, unless
  // the kernel does not let this process choose it; "" leaves it to the routing table.
  static Result<std::unique_ptr<TraceSockets>> create(const IpAddress& address, std::uint32_t qpn,
                                                      const std::string& interface);

  // Sends the message at once; `ipv6_label` is in its IPv6 header. A message for which the kernel
  // has no room is lost. Returns false if another program has the port, or there is no way to the
  // destination. REQUIRES: a payload of at most kMaxPayloadBytes.
  bool send(std::uint16_t source_port, std::uint32_t ipv6_label, const UdMessage& message);

  // Becomes readable when readErrors() has something to read.
  int descriptor() const { return epoll_.get(); }
  void readErrors();
  // Whether takeExpired() has something.
  bool hasExpired() const { return !expired_.empty(); }
  // Moves what came back to the end of `expired`.
  void takeExpired(std::vector<UdExpired>& expired);
  // ICMP messages of other kinds, and those beyond kMaxExpired.
  std::uint64_t otherErrors() const { return other_errors_; }
  // Messages that were not sent because their source port could not be used.
  std::uint64_t withoutPort() const { return without_port_; }

 private:
  struct PortSocket {
    std::uint16_t port;
    std::uint64_t used;  // by how many messages of all sockets before
    net::UdpSocket socket;
  };

  TraceSockets(UniqueFd epoll, const IpAddress& address, std::uint32_t qpn, std::string interface)
      : epoll_(std::move(epoll)), address_(address), qpn_(qpn), interface_(std::move(interface)) {}
  net::UdpSocket* socketOf(std::uint16_t port);
  Result<net::UdpSocket> open(std::uint16_t port) const;
  void write(std::uint16_t source_port, const UdMessage& message);
  void collect(net::UdpSocket& socket);

  UniqueFd epoll_;  // watches the sockets' error queues
  IpAddress address_;
  std::uint32_t qpn_;
  std::string interface_;
  std::vector<PortSocket> sockets_;
  std::uint64_t sent_ = 0;
  std::vector<std::uint8_t> packet_;
  net::Outbox outbox_{0};
  net::RxBatch scratch_;  // used for error queues
  std::vector<UdExpired> expired_;
  std::uint64_t other_errors_ = 0;
  std::uint64_t without_port_ = 0;
};

}  // namespace pingloom::rdma::soft
