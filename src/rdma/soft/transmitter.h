// The sending half of a soft device. It builds and seals packets, holds them for their batch or for
// the delay of an impairment, sends them through the socket of their flow label, and matches them
// when the kernel reports their departure. One thread; the caller passes the time.
#pragma once

#include <sys/uio.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "common/address.h"
#include "common/time.h"
#include "net/outbox.h"
#include "net/rx_batch.h"
#include "net/tx_numbers.h"
#include "rdma/soft/drops.h"
#include "rdma/soft/flow_sockets.h"
#include "rdma/soft/free_slots.h"
#include "rdma/soft/impairment.h"
#include "rdma/soft/packet.h"
#include "rdma/soft/packet_sink.h"

namespace pingloom::rdma::soft {

struct Route {
  IpAddress destination;  // must have the device's address family
  std::uint32_t flow_label = 0;
  std::uint8_t traffic_class = 0;
  std::uint8_t hop_limit = 0;  // 0: the system's default
};

// Consecutive packets of one size to one queue pair, whose departures no endpoint needs, leave as
// one message that the kernel segments (UDP GSO); the k-th has the IPv4 ID k. If the kernel or the
// interface does not support this, the first such message is lost, and from then on packets leave
// one by one.
//
// `sinks` and `drops` outlive this. A packet's tag names its owner (the kind is the owner's number
// in `sinks`) and the owner's id for the packet. The owner is told once whether the packet departed
// or failed, unless the kernel never reports it. A packet with tag kind none has no owner.
//
// Bound: at most kPackets wait, including delayed ones. Memory: kPackets times the longest packet,
// of which unused parts are never touched.
class Transmitter {
 public:
  static constexpr std::size_t kPackets = 4096;
  static constexpr std::size_t kMaxSegments = 64;     // the kernel's limit
  static constexpr std::size_t kMaxMessage = 65'000;  // below what fits into an IP packet
  static constexpr Nanos kRetry = kMillisecond;       // after the kernel had no room

  Transmitter(net::UdpSocket main, Impairments impairments, int epoll, SinkTable& sinks,
              DropCounters& drops);

  // Copies the packet, which leaves with the next flush(). Returns false if there is no room.
  // REQUIRES: a payload of at most kMaxPayloadBytes.
  bool add(const Route& route, const Packet& packet, net::TxTag tag);
  // Returns the number of packets for which add() has room.
  std::size_t room() const { return free_.size(); }
  // Hands the packets to the kernel. Packets that an impairment affects depart now, in software.
  void flush(Nanos now_mono);
  // Sends all messages that the next packet cannot join. A flush() has to follow.
  void flushClosed(Nanos now_mono);
  // Sends the packets that are due: delayed ones, and those for which the kernel had no room.
  void elapse(Nanos now_mono);
  // Returns when elapse() has to be called.
  Nanos nextWake() const;

  // Reads the departures that the kernel reports, from all sockets that may have some, or from one.
  void collect();
  void collect(FlowSocket& flow);

  FlowSockets& sockets() { return sockets_; }

 private:
  struct Slot {
    FlowSocket* flow = nullptr;
    IpAddress destination;
    std::uint32_t qpn = 0;  // the destination's
    std::uint8_t traffic_class = 0;
    std::uint8_t hop_limit = 0;
    net::TxTag tag;
    std::uint8_t* at = nullptr;  // its bytes; they are in its own slot or in an earlier packet's
    std::size_t bytes = 0;
    bool may_join = false;    // may be part of a message of several packets
    std::uint16_t place = 0;  // position in that message, which is its IPv4 ID
  };
  struct Delayed {
    std::uint32_t slot;
    Nanos delay;
  };
  struct Due {
    Nanos at_mono;
    std::uint64_t order;  // first in, first out among equals
    std::uint32_t slot;
    bool operator<(const Due& other) const {  // the earliest is the greatest, as a heap needs it
      return at_mono != other.at_mono ? at_mono > other.at_mono : order > other.order;
    }
  };

  std::uint8_t* bytesOf(std::uint32_t slot) { return bytes_.get() + slot * kMaxPacketBytes; }
  void release(std::uint32_t slot);
  void join(std::uint32_t slot);
  std::uint16_t placeAfter(const FlowSocket& flow, const Slot& next) const;
  void impair(std::uint32_t slot, const Fate& fate);
  void hold(std::uint32_t slot, bool delayed, Nanos delay);
  void departImpaired(Nanos now_mono);
  void send(FlowSocket& flow, std::size_t count, Nanos now_mono);
  std::size_t stage(const FlowSocket& flow, std::size_t at);
  void stageFrom(const FlowSocket& flow, std::size_t at, std::size_t end);
  void couldNotLeave(net::TxTag tag, int error);
  void report(FlowSocket& flow);
  void cameBack(const net::Bounce& bounce);

  SinkTable& sinks_;
  DropCounters& drops_;
  FlowSockets sockets_;
  FateOfPackets fates_;
  std::unique_ptr<std::uint8_t[]> bytes_;  // left uninitialised
  std::vector<Slot> slots_;
  FreeSlots<kPackets> free_;
  net::Outbox outbox_;
  // What the outbox's messages consist of.
  std::vector<iovec> pieces_;
  std::array<std::size_t, net::Outbox::kMax> staged_{};  // packets in each of its messages
  bool segments_ = true;
  net::RxBatch scratch_;              // used for error queues
  std::vector<net::TxTag> impaired_;  // packets that depart with the next flush
  std::vector<Delayed> delayed_;      // packets whose delay begins with the next flush
  std::vector<Due> due_;              // a heap
  std::uint64_t order_ = 0;
  Nanos retry_mono_ = kNever;
};

}  // namespace pingloom::rdma::soft
