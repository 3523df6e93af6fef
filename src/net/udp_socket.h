// One bound UDP socket with kernel timestamps and its error queue. Owns the descriptor; one thread.
#pragma once

#include <sys/socket.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "common/address.h"
#include "common/error.h"
#include "common/fd.h"
#include "common/time.h"
#include "net/rx_batch.h"
#include "net/tx_numbers.h"

namespace pingloom::net {

// The time at which a datagram left.
struct Departure {
  TxTag tag;
  Nanos utc;
};
// An ICMP error for a datagram of this socket.
struct Bounce {
  std::array<std::uint8_t, RxBatch::kHead> quoted;  // the beginning of the datagram
  std::size_t quoted_bytes;
  bool refused;               // no socket listens on the port; otherwise the host is unreachable
  bool expired;               // the datagram's hop limit ran out
  IpAddress sender;           // of the ICMP message; unspecified if the kernel does not say
  SocketAddress destination;  // the datagram's
};

struct UdpSocketOptions {
  // Datagrams are never fragmented, and those of IPv4 have DF set and ID 0, whatever an ICMP
  // message says about the path. A datagram that is too long for the link fails with EMSGSIZE.
  bool unfragmented = false;
  bool accept_no_checksum = false;  // accepts IPv6 datagrams with UDP checksum 0, as IPv4 does
  bool deaf = false;                // drops what arrives; the error queue still works
  // Datagrams of one size that arrive together from one sender may be received as one, with the
  // timestamp of the first (UDP GRO). Ancillary::segment_bytes tells.
  bool coalesced = false;
  bool joins = false;           // takes a port whose sockets admit others, see net/udp_group.h
  std::string_view port_taken;  // the text of an error for EADDRINUSE; empty for the kernel's text
};

class UdpSocket {
 public:
  static constexpr int kBufferBytes = 4 << 20;  // the kernel may grant less

  // 0.0.0.0 and :: mean all addresses of the family.
  static Result<UdpSocket> bind(const IpAddress& address, std::uint16_t port,
                                const UdpSocketOptions& options = {});

  int descriptor() const { return fd_.get(); }
  const IpAddress& address() const { return address_; }
  bool isV6() const { return !address_.isV4(); }
  bool isWildcard() const { return address_.isUnspecified(); }

  // Returns how many datagrams the kernel has dropped since the last call because its queue was
  // full. `count` is the latest count of SO_RXQ_OVFL.
  std::uint64_t newlyDropped(std::uint32_t count);

  // Called, in the order of sending, when the kernel has accepted a datagram that requests a
  // timestamp.
  void transmitted(TxTag tag) { numbers_.add(tag); }
  // Moves the entries of the error queue to departures() and bounces().
  void readErrors(RxBatch& batch);
  // Called after a failed send. It depends on the kernel's version whether the datagram has used a
  // number, so this reads the error queue and restarts the numbers.
  void restartNumbers(RxBatch& batch);
  // Whether the departure of the last datagram is still missing.
  bool awaitsDeparture() const { return numbers_.awaits(); }

  // The reader clears these. Bound: the capacity of the error queue (kBufferBytes).
  std::vector<Departure>& departures() { return departures_; }
  std::vector<Bounce>& bounces() { return bounces_; }

 private:
  UdpSocket(UniqueFd fd, const IpAddress& address) : fd_(std::move(fd)), address_(address) {}

  UniqueFd fd_;
  IpAddress address_;
  TxNumbers numbers_;
  std::uint32_t dropped_ = 0;
  std::vector<Departure> departures_;
  std::vector<Bounce> bounces_;
};

}  // namespace pingloom::net
