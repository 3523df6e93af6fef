// The ZeroMQ ROUTER that others connect to. Every message is one frame beside the route, the name
// ZeroMQ gives the connection. One thread. Bounds: RouterOptions::largest bytes a message, and
// kMaxWaitingIn and waiting_out messages of each connection; ZeroMQ drops a connection that sends a
// larger one, and one whose handshake takes longer than kHandshakeMs. It does not bound how many
// parts a message has before its last.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "common/address.h"
#include "common/error.h"
#include "net/gate_keeper.h"
#include "net/peer_gate.h"

struct zmq_msg_t;

namespace pingloom::net {

// A message as ZeroMQ holds it: not copied.
class ZmqFrame {
 public:
  ZmqFrame();
  std::string_view bytes() const;
  zmq_msg_t* get() { return message_.get(); }
  // The key its sender has proved to have; nullopt: the ROUTER has no gate.
  std::optional<CurveKey> key() const;
  std::string_view peer() const;  // the address it came from; "" unknown

 private:
  struct Close {
    void operator()(zmq_msg_t* message) const;
  };
  std::unique_ptr<zmq_msg_t, Close> message_;
};

struct RouterOptions {
  std::size_t largest = std::size_t{16} << 20;  // bytes of a message that comes
  // Messages that wait for a connection which does not take them; more are dropped.
  int waiting_out = 256;
  // Only who it lets in, and encrypted; nullptr: everybody, in plaintext.
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
  // Becomes readable when something may wait; only readable() tells, ask it before polling.
  int descriptor() const { return descriptor_; }
  bool readable() const;

  struct Message {
    std::string route;
    std::unique_ptr<ZmqFrame> frame;
  };
  // nullopt: nothing waits. Messages of several frames come back without a frame.
  std::optional<Message> receive();
  // False: the connection is gone or takes no more.
  bool send(const std::string& route, std::string_view bytes);
  // The bytes are shared, not copied.
  bool send(const std::string& route, std::shared_ptr<const std::string> bytes);

 private:
  ZmqRouter() = default;
  Status open(const SocketAddress& address, const RouterOptions& options);
  Status guard(const std::shared_ptr<PeerGate>& gate);
  bool sendMessage(const std::string& route, zmq_msg_t* message);

  struct TerminateContext {
    void operator()(void* context) const;
  };
  struct CloseSocket {
    void operator()(void* socket) const;
  };
  std::unique_ptr<void, TerminateContext> context_;
  std::unique_ptr<void, CloseSocket> socket_;
  std::unique_ptr<GateKeeper> keeper_;  // nullptr: no gate
  SocketAddress address_;
  int descriptor_ = -1;
};

}  // namespace pingloom::net
