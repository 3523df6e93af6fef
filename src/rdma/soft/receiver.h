// The receiving half of a soft device: it turns datagrams to port 4791 into checked packets and
// delivers them to their endpoints. One thread.
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

// When a sender on this host, or behind a veth, uses UDP GSO, the raw socket returns its packets in
// one piece: packets of one size, the k-th with the IPv4 ID of the first plus k. The piece is split
// so that the first packet's iCRC holds.
//
// The UDP socket also returns pieces that the interface merged (GRO), and reports the size of each
// packet. GRO stays off when `raw` is given, because merged packets have lost the IDs that the
// exact check needs; on loopback nothing is merged.
//
// `bound` (which does not receive when `raw` is given), `sinks` and `drops` outlive this. Memory:
// at most net::RxBatch::kMax times 64 KiB, of which unused parts are never touched.
class Receiver {
 public:
  Receiver(net::UdpSocket& bound, std::optional<net::RawUdpSocket> raw, SinkTable& sinks,
           DropCounters& drops);

  // Receives one batch and returns the number of its datagrams, at most net::RxBatch::kMax. Returns
  // -1 if the socket has an error, which reading `bound`'s error queue clears.
  int receive(Nanos now_mono);

  int descriptor() const { return raw_ ? raw_->descriptor() : bound_.descriptor(); }
  bool isExact() const { return raw_ || bound_.isV6(); }

 private:
  struct Datagram {
    std::span<const std::uint8_t> payload;
    SocketAddress from;
    std::uint8_t traffic_class = 0;
    Nanos kernel_utc = 0;
    Ipv4Identification identification;  // a guess with the UDP socket: what pingloom would send
  };
  void receiveOne(std::size_t i);
  bool readRaw(std::span<const std::uint8_t> bytes, Datagram& out);
  std::size_t firstBytes(const IcrcFlow& flow, const Datagram& whole) const;
  void deliverRaw(const Datagram& whole);
  // Delivers the packets of a message, each of `bytes` but perhaps the last one. `first_holds`
  // tells that the first one's iCRC has already been checked.
  void deliverMessage(Datagram whole, std::size_t bytes, const IcrcFlow& flow, bool first_holds);
  void announce(std::span<const std::uint8_t> packet) const;  // `packet` may be empty
  // `holds` tells that the iCRC has already been checked.
  void deliver(const IcrcFlow& flow, const Datagram& datagram, bool holds);
  IcrcFlow flowOf(const Datagram& datagram) const;
  bool icrcHolds(const IcrcFlow& flow, const Datagram& datagram) const;

  net::UdpSocket& bound_;
  std::optional<net::RawUdpSocket> raw_;
  SinkTable& sinks_;
  DropCounters& drops_;
  net::RxBatch batch_;
  Nanos now_mono_ = 0;
  Inbound
      inbound_;  // headers that a packet lacks keep old values, because clearing them costs more
  std::size_t last_first_bytes_ = 0;  // the last result of firstBytes()
};

}  // namespace pingloom::rdma::soft
