// The receiving half of a soft device: datagrams to port 4791 become checked packets and go to
// their endpoints. One thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "common/address.h"
#include "net/raw_udp_socket.h"
#include "net/rx_batch.h"
#include "net/udp_socket.h"
#include "rdma/soft/drops.h"
#include "rdma/soft/icrc.h"
#include "rdma/soft/packet_sink.h"

namespace pingloom::rdma::soft {

// The raw socket shows what a sender on this host, or behind a veth, has sent by UDP GSO in one
// piece: packets of one size, the k-th with the IPv4 ID of the first plus k. It is cut into as many
// as make the first one's iCRC hold.
//
// The UDP socket gives the same in one piece, and what the interface has put together again, and
// says how long each packet is. (Not where `raw` is given: packets that the interface has put
// together have lost their IDs, which its exact check needs.)
//
// `bound` (deaf where `raw` is given), `sinks` and `drops` outlive it. Memory: what of
// net::RxBatch::kMax times 64 KiB has ever been used.
class Receiver {
 public:
  Receiver(net::UdpSocket& bound, std::optional<net::RawUdpSocket> raw, std::size_t mtu,
           SinkTable& sinks, DropCounters& drops);

  // One batch; how many datagrams it had, at most net::RxBatch::kMax. -1: an error stands in the
  // way, which reading `bound`'s error queue removes.
  int receive(Nanos now_mono);

  int descriptor() const { return raw_ ? raw_->descriptor() : bound_.descriptor(); }
  bool isExact() const { return raw_ || bound_.isV6(); }

 private:
  struct Datagram {
    std::span<const std::uint8_t> payload;
    SocketAddress from;
    std::uint8_t traffic_class = 0;
    Nanos kernel_utc = 0;
    Ipv4Identification identification;  // with the UDP socket a guess: what we would have sent
  };
  void receiveOne(std::size_t i);
  bool readRaw(std::span<const std::uint8_t> bytes, Datagram& out);
  std::size_t firstBytes(const IcrcFlow& flow, const Datagram& whole) const;
  void deliverEach(Datagram whole);
  void deliverSegments(Datagram whole, std::size_t segment_bytes);
  // `holds`: the iCRC has been checked.
  void deliver(const IcrcFlow& flow, const Datagram& datagram, bool holds);
  IcrcFlow flowOf(const Datagram& datagram) const;
  bool icrcHolds(const IcrcFlow& flow, const Datagram& datagram) const;

  net::UdpSocket& bound_;
  std::optional<net::RawUdpSocket> raw_;
  std::size_t mtu_;
  SinkTable& sinks_;
  DropCounters& drops_;
  net::RxBatch batch_;
  Nanos now_mono_ = 0;
  Inbound inbound_;  // what a packet has not stays from earlier ones: clearing it would cost more
  std::size_t last_first_bytes_ = 0;  // as firstBytes() found them last
};

}  // namespace pingloom::rdma::soft
