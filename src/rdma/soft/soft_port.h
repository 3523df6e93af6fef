// What the endpoints of a soft device share: its sockets, both halves, and the table of endpoints.
// One thread; time is passed in.
#pragma once

#include <optional>

#include "common/fd.h"
#include "common/time.h"
#include "net/raw_udp_socket.h"
#include "net/udp_socket.h"
#include "rdma/soft/drops.h"
#include "rdma/soft/impairment.h"
#include "rdma/soft/packet_sink.h"
#include "rdma/soft/receiver.h"
#include "rdma/soft/transmitter.h"

namespace pingloom::rdma::soft {

class SoftPort {
 public:
  // `epoll`: an empty epoll set; readable afterwards whenever poll() has something to do.
  SoftPort(UniqueFd epoll, net::UdpSocket bound, std::optional<net::RawUdpSocket> raw,
           std::size_t mtu, Impairments impairments);
  SoftPort(const SoftPort&) = delete;
  SoftPort& operator=(const SoftPort&) = delete;

  // Receives at most `batches` batches (of net::RxBatch::kMax), sends what is due, and reads when
  // packets left: after receiving, so that a packet's departure is known before the answer to it.
  void poll(int batches, Nanos now_mono);

  const IpAddress& address() { return transmitter_.sockets().main().socket.address(); }
  int epoll() const { return epoll_.get(); }
  // The effective SO_RCVBUF of what it receives through.
  std::size_t receiveBuffer() const;
  bool checksExactly() const { return receiver_.isExact(); }
  SinkTable& sinks() { return sinks_; }
  Transmitter& transmitter() { return transmitter_; }
  const DropCounters& drops() const { return drops_; }

 private:
  std::size_t receive(int batches, Nanos now_mono);
  void clearErrors();

  UniqueFd epoll_;
  DropCounters drops_;
  SinkTable sinks_;
  Transmitter transmitter_;
  Receiver receiver_;
};

}  // namespace pingloom::rdma::soft
