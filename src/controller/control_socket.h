// The ZeroMQ ROUTER that agents connect to. Every message is one frame beside the route, the name
// ZeroMQ gives the connection. The control thread. Bounds: kMaxMessageBytes, and kMaxWaiting
// messages in and out of each connection; ZeroMQ drops a connection that sends a larger one.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "common/address.h"
#include "common/error.h"

struct zmq_msg_t;

namespace pingloom::controller {

// A message as ZeroMQ holds it: not copied.
class Frame {
 public:
  Frame();
  std::string_view bytes() const;
  zmq_msg_t* get() { return message_.get(); }

 private:
  struct Close {
    void operator()(zmq_msg_t* message) const;
  };
  std::unique_ptr<zmq_msg_t, Close> message_;
};

class ControlSocket {
 public:
  static constexpr std::size_t kMaxMessageBytes = 16U << 20;
  static constexpr int kMaxWaitingIn = 32;
  static constexpr int kMaxWaitingOut = 256;

  static Result<std::unique_ptr<ControlSocket>> bind(const SocketAddress& address);
  ~ControlSocket();
  ControlSocket(const ControlSocket&) = delete;
  ControlSocket& operator=(const ControlSocket&) = delete;

  SocketAddress address() const { return address_; }  // with the port that was picked
  // Becomes readable when something may wait; only readable() tells, ask it before polling.
  int descriptor() const { return descriptor_; }
  bool readable() const;

  struct Message {
    std::string route;
    std::unique_ptr<Frame> frame;
  };
  // nullopt: nothing waits. Messages of several frames come back without a frame.
  std::optional<Message> receive();
  // False: the connection is gone or takes no more.
  bool send(const std::string& route, std::string_view bytes);
  // The bytes are shared, not copied.
  bool send(const std::string& route, std::shared_ptr<const std::string> bytes);

 private:
  ControlSocket() = default;
  Status open(const SocketAddress& address);
  bool sendMessage(const std::string& route, zmq_msg_t* message);

  struct TerminateContext {
    void operator()(void* context) const;
  };
  struct CloseSocket {
    void operator()(void* socket) const;
  };
  std::unique_ptr<void, TerminateContext> context_;
  std::unique_ptr<void, CloseSocket> socket_;
  SocketAddress address_;
  int descriptor_ = -1;
};

}  // namespace pingloom::controller
