// The state that the endpoints of a soft device share: its sockets, receiver, transmitter, and the
// table of endpoints. One thread; the caller passes the time.
#pragma once

#include <optional>

#include "common/fd.h"
#include "common/time.h"
#include "net/raw_udp_socket.h"
#include "net/udp_socket.h"
#include "rdma/soft/drops.h"
#include "rdma/soft/impairment.h"
#include "rdma/soft/interface_watch.h"
#include "rdma/soft/packet_sink.h"
#include "rdma/soft/receiver.h"
#include "rdma/soft/transmitter.h"

namespace pingloom::rdma::soft {

class SoftPort {
 public:
  // `epoll` is an empty epoll set. From then on it is readable when poll() has something to do.
  // Its endpoints get QPNs of `qpns`.
  SoftPort(UniqueFd epoll, net::UdpSocket bound, std::optional<net::RawUdpSocket> raw,
           Impairments impairments, QpnClass qpns);
  SoftPort(const SoftPort&) = delete;
  SoftPort& operator=(const SoftPort&) = delete;

  // Receives at most `batches` batches (of net::RxBatch::kMax), sends the packets that are due, and
  // reads departure times. Departures are read after receiving and reported first, so that the
  // departure of a packet is known before its answer. Follows the interface too.
  void poll(int batches, Nanos now_mono);

  const IpAddress& address() { return transmitter_.sockets().main().socket.address(); }
  int epoll() const { return epoll_.get(); }
  // Returns the effective SO_RCVBUF of the receiving socket.
  std::size_t receiveBuffer() const;
  bool checksExactly() const { return receiver_.isExact(); }
  SinkTable& sinks() { return sinks_; }
  Transmitter& transmitter() { return transmitter_; }
  const DropCounters& drops() const { return drops_; }
  const InterfaceWatch& interface() const { return watch_; }

 private:
  std::size_t receive(int batches, Nanos now_mono);
  void clearErrors();
  void follow(int descriptor, void* data) const;

  UniqueFd epoll_;
  DropCounters drops_;
  SinkTable sinks_;
  Transmitter transmitter_;
  Receiver receiver_;
  InterfaceWatch watch_;
  Nanos watched_mono_ = 0;
};

}  // namespace pingloom::rdma::soft
