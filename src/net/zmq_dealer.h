// A ZeroMQ DEALER that holds one connection to a ROUTER.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "common/address.h"
#include "common/error.h"
#include "net/curve_key.h"

namespace pingloom::net {

// ZeroMQ's context with its one I/O thread. Outlives its sockets. Any thread.
class ZmqContext {
 public:
  explicit ZmqContext(int max_sockets = 16);  // a dealer has up to three, and as many closing
  ZmqContext(const ZmqContext&) = delete;
  ZmqContext& operator=(const ZmqContext&) = delete;
  ~ZmqContext();

 private:
  friend class ZmqDealer;
  void* context_;
};

struct DealerOptions {
  // Connections leave from this address where it is of the peer's family.
  std::optional<IpAddress> source;
  std::size_t largest = std::size_t{64} << 20;  // a larger message drops the connection
  // Encrypt, as the owner of `own`, to nobody but the owner of `server`.
  struct Curve {
    CurvePair own;
    CurveKey server;
  };
  std::optional<Curve> curve;
  bool watch_handshakes = false;  // for takeHandshakeFault(), which has to be called then
};

enum class HandshakeFault {
  kNone,
  kKeyRefused,  // the other side does not want our key
  kBroken,      // it has another key than the one expected, or only one of us encrypts
};

// One thread. Messages are of one frame. While there is no connection nothing is queued: send()
// fails, and what was queued when a connection broke is dropped. Bounds: kHighWater messages each
// way, DealerOptions::largest bytes each.
//
// The kernels ask each other whether they are there: a connection whose other host, or the way to
// it, is gone breaks after kDeadMs; one whose other end is only busy does not. (ZeroMQ's own
// heartbeats would see a process that hangs, too, but libzmq 4.3.4 aborts when one arrives behind
// more messages than the high-water mark and the connection ends: stream_engine_base.cpp:331.)
class ZmqDealer {
 public:
  static constexpr int kHighWater = 128;
  static constexpr int kDeadMs = 3000;

  ZmqDealer() = default;
  ZmqDealer(const ZmqDealer&) = delete;
  ZmqDealer& operator=(const ZmqDealer&) = delete;
  ~ZmqDealer() { close(0); }

  // Connects in the background, again and again (100 ms to 2 s apart), names resolved each time.
  // Where the socket was open, its connection and what waited on it are dropped, and the descriptor
  // is another.
  Status open(ZmqContext& context, const std::string& peer, const DealerOptions& options = {});
  // What was sent gets at most linger_ms to leave; the context's destructor waits that long.
  void close(int linger_ms);

  int descriptor() const { return descriptor_; }  // edge-triggered: see ControlClient::run
  bool isOpen() const { return socket_ != nullptr; }
  bool connected();  // a connection stands (the high-water mark is never reached, so: writable)
  bool readable();
  // Why a handshake failed since the last call; the last one's reason. libzmq gives a socket up
  // then, in most cases: open() it again. REQUIRES watch_handshakes, and to be called every few
  // seconds while there is no connection: what libzmq tells is queued.
  HandshakeFault takeHandshakeFault();

  bool send(std::string_view head, std::string_view body);  // as one frame
  enum class Received { kNothing, kMessage, kBad };         // kBad: of several frames
  Received receive(std::string& out);

 private:
  int events();
  bool secure(const DealerOptions& options);
  bool watch(ZmqContext& context);

  void* socket_ = nullptr;
  void* handshakes_ = nullptr;  // PAIR: what libzmq tells of them
  int descriptor_ = -1;
};

}  // namespace pingloom::net
