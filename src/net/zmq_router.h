// The ZeroMQ ROUTER that others connect to. A message is one frame behind the route, which is
// ZeroMQ's name for the connection. One thread uses it. Bounds: RouterOptions::largest bytes a
// message, and for each connection kMaxWaitingIn and waiting_out messages; ZeroMQ ends a connection
// that sends a larger message or whose handshake takes longer than kHandshakeMs. It does not bound
// the number of a message's parts.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <zmq.hpp>

#include "common/address.h"
#include "common/error.h"
#include "net/gate_keeper.h"
#include "net/peer_gate.h"

namespace pingloom::net {

// A frame in the memory that ZeroMQ received it into.
class ZmqFrame {
 public:
  // `guarded`: the ROUTER has a gate.
  ZmqFrame(zmq::message_t message, bool guarded)
      : message_(std::move(message)), guarded_(guarded) {}
  std::string_view bytes() const { return message_.to_string_view(); }
  // The public key that the sender has proved to own; nullopt: the ROUTER has no gate.
  std::optional<CurveKey> key();
  std::string_view peer();  // the address it was sent from; "": unknown

 private:
  zmq::message_t message_;
  bool guarded_;
};

struct RouterOptions {
  std::size_t largest = std::size_t{16} << 20;  // bytes of a received message
  // Messages that wait for a connection which does not take them; further ones are dropped.
  int waiting_out = 256;
  // Encrypts every connection and admits only the keys it knows; nullptr: everybody may connect, in
  // plaintext.
  std::shared_ptr<PeerGate> gate;
};

class ZmqRouter {
 public:
  static constexpr int kMaxWaitingIn = 32;
  static constexpr int kHandshakeMs = 5000;

  static Result<std::unique_ptr<ZmqRouter>> bind(const SocketAddress& address,
                                                 const RouterOptions& options = {});
  ~ZmqRouter();
  ZmqRouter(const ZmqRouter&) = delete;
  ZmqRouter& operator=(const ZmqRouter&) = delete;

  SocketAddress address() const { return address_; }  // with the port that was picked
  // Becomes readable when a message may wait. Only readable() tells; ask it before polling.
  int descriptor() const { return descriptor_; }
  bool readable() const;

  struct Message {
    std::string route;
    std::unique_ptr<ZmqFrame> frame;
  };
  // nullopt: nothing waits. A message of several frames is returned without a frame.
  std::optional<Message> receive();
  // False: the connection is gone or takes no more.
  bool send(const std::string& route, std::string_view bytes);
  // The bytes are shared, not copied.
  bool send(const std::string& route, std::shared_ptr<const std::string> bytes);

 private:
  ZmqRouter() = default;
  Status guard(const std::shared_ptr<PeerGate>& gate);
  void open(const SocketAddress& address, const RouterOptions& options);
  bool sendMessage(const std::string& route, zmq::message_t message);

  zmq::context_t context_;
  zmq::socket_t socket_ = zmq::socket_t(context_, zmq::socket_type::router);
  std::unique_ptr<GateKeeper> keeper_;  // nullptr: no gate
  SocketAddress address_;
  int descriptor_ = -1;
};

}  // namespace pingloom::net
