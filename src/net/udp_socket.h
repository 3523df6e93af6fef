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

// A datagram left at this time.
struct Departure {
  TxTag tag;
  Nanos utc;
};
// One of ours came back in an ICMP error.
struct Bounce {
  std::array<std::uint8_t, RxBatch::kHead> quoted;  // its beginning
  std::size_t quoted_bytes;
  bool refused;  // nobody listens on that port; otherwise the host is not to be reached
};

struct UdpSocketOptions {
  // Datagrams leave whole, IPv4's with DF and ID 0, whatever an ICMP message says about the path;
  // what the link does not carry fails with EMSGSIZE.
  bool unfragmented = false;
  bool accept_no_checksum = false;  // IPv6 datagrams with UDP checksum 0; IPv4's always pass
  bool deaf = false;                // drops what arrives; the error queue goes on working
  // Datagrams of one size that came together from one sender may be received as one, with the
  // timestamp of the first (UDP GRO): Ancillary says so.
  bool coalesced = false;
  std::string_view port_taken;  // what an error says of EADDRINUSE; empty: the kernel's words
};

class UdpSocket {
 public:
  static constexpr int kBufferBytes = 4 << 20;  // asked for; the kernel may grant less

  // 0.0.0.0 and :: stand for all addresses of the family.
  static Result<UdpSocket> bind(const IpAddress& address, std::uint16_t port,
                                const UdpSocketOptions& options = {});

  int descriptor() const { return fd_.get(); }
  const IpAddress& address() const { return address_; }
  bool isV6() const { return !address_.isV4(); }
  bool isWildcard() const { return address_.isUnspecified(); }

  // Room in the kernel's queues is limited; what arrives is counted by SO_RXQ_OVFL where it is not
  // enough. This many datagrams it has dropped since the last call, given the latest count.
  std::uint64_t newlyDropped(std::uint32_t count);

  // The kernel has taken a datagram whose control data asks for a timestamp. Calls are in the order
  // of sending.
  void transmitted(TxTag tag) { numbers_.add(tag); }
  // Takes everything out of the error queue: into departures() and bounces().
  void readErrors(RxBatch& batch);
  // After a failed send nobody knows whether the datagram used up a number (it differs by kernel
  // version): reads the error queue and begins to count anew.
  void restartNumbers(RxBatch& batch);
  // A datagram was sent of whose departure nothing has been heard.
  bool awaitsDeparture() const { return numbers_.awaits(); }

  // Cleared by the reader. Bound: what the error queue (kBufferBytes) can hold.
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
