// ZeroMQ as far as the agent needs it: a DEALER that holds one connection to the controller.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "common/error.h"

namespace pingloom::agent {

// ZeroMQ's context with its one I/O thread. Outlives its sockets. Any thread.
class ControlContext {
 public:
  explicit ControlContext(int max_sockets = 4);
  ControlContext(const ControlContext&) = delete;
  ControlContext& operator=(const ControlContext&) = delete;
  ~ControlContext();

 private:
  friend class ControlSocket;
  void* context_;
};

// One thread. Messages are of one frame. While there is no connection nothing is queued: send()
// fails, and what was queued when a connection broke is dropped. Bounds: kHighWater messages each
// way, kMaxMessage bytes each.
class ControlSocket {
 public:
  static constexpr int kHighWater = 128;
  static constexpr std::size_t kMaxMessage = 64U << 20;

  ControlSocket() = default;
  ControlSocket(const ControlSocket&) = delete;
  ControlSocket& operator=(const ControlSocket&) = delete;
  ~ControlSocket() { close(0); }

  // Connects in the background, again and again (100 ms to 2 s apart), names resolved each time.
  // Where the socket was open, its connection and what waited on it are dropped, and the descriptor
  // is another.
  Status open(ControlContext& context, const std::string& controller);
  // What was sent gets at most linger_ms to leave; the context's destructor waits that long.
  void close(int linger_ms);

  int descriptor() const { return descriptor_; }  // edge-triggered: see ControlClient::run
  bool isOpen() const { return socket_ != nullptr; }
  bool connected();  // a connection stands (the high-water mark is never reached, so: writable)
  bool readable();

  bool send(std::string_view head, std::string_view body);  // as one frame
  enum class Received { kNothing, kMessage, kBad };         // kBad: of several frames
  Received receive(std::string& out);

 private:
  int events();

  void* socket_ = nullptr;
  int descriptor_ = -1;
};

}  // namespace pingloom::agent
