// The sending half of a soft device: packets are built and sealed here, wait for their batch or
// their impairment's delay, leave through the socket of their flow label, and are told apart again
// when the kernel says when they left. One thread; time is passed in.
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
  IpAddress destination;  // of the device's family
  std::uint32_t flow_label = 0;
  std::uint8_t traffic_class = 0;
};

// Packets of one size that follow each other to one destination, and that nobody wants to know the
// departure of, leave as one message that the kernel segments (UDP GSO); the k-th has the IPv4 ID
// k. Where the kernel or the interface cannot do that, the first such message is lost, and from
// then on they leave one by one.
//
// `sinks` and `drops` outlive it. A packet's tag names its owner (kind: the owner's number in
// `sinks`) and the owner's id for it; the owner hears once whether it departed or failed, unless
// the kernel never says when it left. A packet with tag kind none is nobody's.
//
// Bound: kPackets wait at most, delayed ones included. Memory: what of kPackets times the longest
// packet has ever been used.
class Transmitter {
 public:
  static constexpr std::size_t kPackets = 4096;
  static constexpr std::size_t kMaxSegments = 64;     // the kernel's limit
  static constexpr std::size_t kMaxMessage = 65'000;  // below what fits into an IP packet
  static constexpr Nanos kRetry = kMillisecond;       // after the kernel had no room

  Transmitter(net::UdpSocket main, std::size_t mtu, Impairments impairments, int epoll,
              SinkTable& sinks, DropCounters& drops);

  // Copies the packet; false: no room. It leaves with the next flush(). REQUIRES: a payload of at
  // most the MTU.
  bool add(const Route& route, const Packet& packet, net::TxTag tag);
  // Packets that add() still takes.
  std::size_t room() const { return free_.size(); }
  // What an impairment takes hold of departs now, in software; the rest goes to the kernel.
  void flush(Nanos now_mono);
  // Sends all but what a next packet may still join. A flush() has to follow.
  void flushClosed(Nanos now_mono);
  // Sends what is due: delayed packets, and those that the kernel had no room for.
  void elapse(Nanos now_mono);
  // When elapse() is to be called.
  Nanos nextWake() const;

  // Reads what the kernel says about packets that left: of all sockets where it may have something
  // to say, or of one.
  void collect();
  void collect(FlowSocket& flow);

  FlowSockets& sockets() { return sockets_; }

 private:
  struct Slot {
    FlowSocket* flow = nullptr;
    IpAddress destination;
    std::uint8_t traffic_class = 0;
    net::TxTag tag;
    std::uint8_t* at = nullptr;  // its bytes: bytesOf() it, or of an earlier one of its message
    std::size_t bytes = 0;
    bool may_join = false;    // a message of several
    std::uint16_t place = 0;  // in it, and its IPv4 ID; above 0 it directly follows its predecessor
  };
  struct Delayed {
    std::uint32_t slot;
    Nanos delay;
  };
  struct Due {
    Nanos at_mono;
    std::uint64_t order;  // first in, first out among equals
    std::uint32_t slot;
    bool operator<(const Due& other) const {  // the earliest is the greatest: heap order
      return at_mono != other.at_mono ? at_mono > other.at_mono : order > other.order;
    }
  };

  std::uint8_t* bytesOf(std::uint32_t slot) { return bytes_.get() + slot * longest_; }
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

  SinkTable& sinks_;
  DropCounters& drops_;
  FlowSockets sockets_;
  FateOfPackets fates_;
  std::size_t longest_;
  std::unique_ptr<std::uint8_t[]> bytes_;  // not written before it is used
  std::vector<Slot> slots_;
  FreeSlots<kPackets> free_;
  net::Outbox outbox_;
  std::vector<iovec> pieces_;                            // of what is in it
  std::array<std::size_t, net::Outbox::kMax> staged_{};  // packets in each of its messages
  bool segments_ = true;
  net::RxBatch scratch_;              // for error queues
  std::vector<net::TxTag> impaired_;  // depart with the next flush
  std::vector<Delayed> delayed_;      // wait for it
  std::vector<Due> due_;              // a heap
  std::uint64_t order_ = 0;
  Nanos retry_mono_ = kNever;
};

}  // namespace pingloom::rdma::soft
