// A ZeroMQ DEALER that holds one connection to a ROUTER.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <zmq.hpp>

#include "common/address.h"
#include "common/error.h"
#include "net/curve_key.h"
#include "net/zmq_monitor.h"

namespace pingloom::net {

// ZeroMQ's context with its one I/O thread. It outlives its sockets. Any thread may use it.
class ZmqContext {
 public:
  // A dealer has up to three sockets, and as many that are still closing.
  explicit ZmqContext(int max_sockets = 16);
  ZmqContext(const ZmqContext&) = delete;
  ZmqContext& operator=(const ZmqContext&) = delete;

 private:
  friend class ZmqDealer;
  Result<zmq::context_t> context_;  // ZmqDealer::open() returns its error
};

struct DealerOptions {
  // Connections leave from this address when the peer's address is of the same family.
  std::optional<IpAddress> source;
  // Bytes of a message; a larger one ends the connection.
  std::size_t largest = std::size_t{64} << 20;
  // The connection is encrypted, from the owner of `own` to nobody but the owner of `server`.
  struct Curve {
    CurvePair own;
    CurveKey server;
  };
  std::optional<Curve> curve;
  // Records failed handshakes for takeHandshakeFault(), which has to be called then.
  bool watch_handshakes = false;
};

enum class HandshakeFault {
  kNone,
  kKeyRefused,  // the peer does not accept our key
  kBroken,      // the peer has another key than expected, or only one of the two encrypts
};

// One thread uses it. A message is one frame. While there is no connection nothing is queued:
// send() fails, and what was queued when a connection ended is dropped. Bounds: kHighWater messages
// each way, DealerOptions::largest bytes each.
//
// TCP keepalive tells a dead peer from a busy one: a connection whose host, or whose route to it,
// is gone ends after kDeadMs, and one to a process that is only slow stays. ZeroMQ's own heartbeats
// would notice a process that hangs as well, but libzmq 4.3.4 aborts when a heartbeat waits behind
// more messages than the high-water mark and the connection ends (stream_engine_base.cpp:331).
class ZmqDealer {
 public:
  static constexpr int kHighWater = 128;
  static constexpr int kDeadMs = 3000;

  ZmqDealer() = default;
  ZmqDealer(const ZmqDealer&) = delete;
  ZmqDealer& operator=(const ZmqDealer&) = delete;
  ~ZmqDealer() { close(0); }

  // Connects in the background and retries every 100 ms to 2 s, resolving names each time. If the
  // socket was open, its connection and what waited on it are dropped and the descriptor changes.
  Status open(ZmqContext& context, const std::string& peer, const DealerOptions& options = {});
  // Messages already sent get at most linger_ms to leave; the context's destructor waits that long.
  void close(int linger_ms);

  int descriptor() const { return descriptor_; }  // edge-triggered: see ControlClient::run
  bool isOpen() const { return socket_.handle() != nullptr; }
  // A connection stands. It is read from writability, because the high-water mark is never reached.
  bool connected();
  bool readable();
  // Both at one moment. An owner that waits for the descriptor has to look at both in one call:
  // after a second one it would not be woken for what arrived between the two.
  struct State {
    bool connected = false;
    bool readable = false;
  };
  State state();
  // The cause of the latest handshake that failed since the last call. libzmq mostly stops
  // reconnecting after one: open() the socket again. REQUIRES watch_handshakes, and a call every
  // few seconds while there is no connection, because reports queue up.
  HandshakeFault takeHandshakeFault();

  // Sends `head` and `body` as one frame; false: there is no connection.
  bool send(std::string_view head, std::string_view body);
  enum class Received { kNothing, kMessage, kBad };  // kBad: it had several frames
  Received receive(std::string& out);

 private:
  void connect(zmq::context_t& context, const std::string& peer, const DealerOptions& options);

  zmq::socket_t socket_;
  std::optional<ZmqMonitor> handshakes_;
  int descriptor_ = -1;
};

}  // namespace pingloom::net
