// The sending half of a soft device: packets are built and sealed here, wait for their batch or
// their impairment's delay, leave through the socket of their flow label, and are told apart again
// when the kernel says when they left. One thread; time is passed in.
#pragma once

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
#include "rdma/soft/impairment.h"
#include "rdma/soft/packet.h"
#include "rdma/soft/packet_sink.h"

namespace pingloom::rdma::soft {

struct Route {
  IpAddress destination;  // of the device's family
  std::uint32_t flow_label = 0;
  std::uint8_t traffic_class = 0;
};

// `sinks` and `drops` outlive it. A packet's tag names its owner (kind: the owner's number in
// `sinks`) and the owner's id for it; the owner hears once whether it departed or failed, unless
// the kernel never says when it left. A packet with tag kind none is nobody's.
//
// Bound: kPackets wait at most, delayed ones included. Memory: what of kPackets times the longest
// packet has ever been used, and 64 times the longest packet.
class Transmitter {
 public:
  static constexpr std::size_t kPackets = 4096;
  static constexpr Nanos kRetry = kMillisecond;  // after the kernel had no room
  static constexpr Nanos kNever = INT64_MAX;

  Transmitter(net::UdpSocket main, std::size_t mtu, Impairments impairments, int epoll,
              SinkTable& sinks, DropCounters& drops);

  // Copies the packet; false: no room. It leaves with the next flush(). REQUIRES: a payload of at
  // most the MTU.
  bool add(const Route& route, const Packet& packet, net::TxTag tag);
  // Packets that add() still takes.
  std::size_t room() const { return free_.size(); }
  // What an impairment takes hold of departs now, in software; the rest goes to the kernel.
  void flush(Nanos now_mono);
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
    std::size_t bytes = 0;
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
  std::uint32_t takeSlot();
  void release(std::uint32_t slot);
  void impair(std::uint32_t slot, const Fate& fate);
  void hold(std::uint32_t slot, bool delayed, Nanos delay);
  void departImpaired(Nanos now_mono);
  void send(FlowSocket& flow, Nanos now_mono);
  void stage(std::uint32_t slot);
  void report(FlowSocket& flow);

  SinkTable& sinks_;
  DropCounters& drops_;
  FlowSockets sockets_;
  FateOfPackets fates_;
  std::size_t longest_;
  std::unique_ptr<std::uint8_t[]> bytes_;  // not written before it is used
  std::vector<Slot> slots_;
  std::vector<std::uint32_t> free_;  // the last used first: it lies in cache
  net::Outbox outbox_;
  net::RxBatch scratch_;              // for error queues
  std::vector<net::TxTag> impaired_;  // depart with the next flush
  std::vector<Delayed> delayed_;      // wait for it
  std::vector<Due> due_;              // a heap
  std::uint64_t order_ = 0;
  Nanos retry_mono_ = kNever;
};

}  // namespace pingloom::rdma::soft
