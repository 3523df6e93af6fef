// The ZeroMQ ROUTER that peers connect to. A message consists of the route, which is ZeroMQ's name
// for the connection, and one frame. One thread uses the router.
//
// A thread of its own takes every message from ZeroMQ at once and holds it in the inbox. ZeroMQ
// itself therefore has no bound on received messages: libzmq 4.3.4 stops reading a connection if
// there is no room for its messages. If such a connection ends while a ZMTP PING is among the bytes
// that were read before, libzmq aborts the process (stream_engine_base.cpp:331). Anybody who may
// connect could send those bytes.
//
// Bounds: RouterOptions::largest bytes for each message, the bounds of the inbox for received
// messages, and waiting_out messages to send for each connection. ZeroMQ ends a connection that
// sends a larger message or whose handshake takes longer than kHandshakeMs. It does not bound the
// number of a message's parts.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <zmq.hpp>

#include "common/address.h"
#include "common/error.h"
#include "common/fd.h"
#include "net/gate_keeper.h"
#include "net/peer_gate.h"
#include "net/router_inbox.h"

namespace pingloom::net {

struct RouterOptions {
  std::size_t largest = std::size_t{16} << 20;  // bytes of a received message
  // The most messages that wait for a connection that does not take them; further ones are dropped.
  int waiting_out = 256;
  // Encrypts every connection and admits only the keys it knows; nullptr: everybody may connect, in
  // plaintext.
  std::shared_ptr<PeerGate> gate;
  // If there is a gate, everybody may also connect to this address, in plaintext and without a key.
  std::optional<SocketAddress> plaintext;
};

class ZmqRouter {
 public:
  static constexpr int kHandshakeMs = 5000;

  using Message = RouterMessage;

  static Result<std::unique_ptr<ZmqRouter>> bind(const SocketAddress& address,
                                                 const RouterOptions& options = {});
  ~ZmqRouter();
  ZmqRouter(const ZmqRouter&) = delete;
  ZmqRouter& operator=(const ZmqRouter&) = delete;

  SocketAddress address() const { return address_; }  // with the port that was picked
  // Returns a descriptor that is readable while a message waits.
  int descriptor() const { return inbox_->descriptor(); }
  bool readable() const { return !inbox_->empty(); }
  // Returns nullopt if nothing waits. A message of several frames is returned without a frame.
  std::optional<Message> receive() { return inbox_->take(); }
  // Returns the number of messages that were dropped because their sender had too many waiting.
  std::uint64_t dropped() const { return inbox_->dropped(); }
  // Returns false if the connection is gone or takes no more messages.
  bool send(const std::string& route, std::string_view bytes);
  // Does the same, but shares the bytes instead of copying them.
  bool send(const std::string& route, std::shared_ptr<const std::string> bytes);

 private:
  ZmqRouter() = default;
  Status guard(const RouterOptions& options);
  void open(const SocketAddress& address, const RouterOptions& options);
  Status startThread();
  // The thread's function: takes messages in until the router's end, or until ZeroMQ fails.
  void run();
  enum class Taken { kAll, kSome, kFailed };  // kSome: more may wait
  Taken takeIn();
  std::optional<Message> takeMessage();  // needs the lock
  void listen(const SocketAddress& address);
  bool sendMessage(const std::string& route, zmq::message_t message);
  // Returns the lock that is needed to use the socket. Waiting threads get it in turn, so a flood
  // that keeps the router's thread busy does not keep the owner from sending.
  std::unique_lock<std::mutex> lockSocket();

  zmq::context_t context_;
  std::mutex turn_;          // held while waiting for socket_mutex_
  std::mutex socket_mutex_;  // guards socket_
  zmq::socket_t socket_ = zmq::socket_t(context_, zmq::socket_type::router);
  std::unique_ptr<GateKeeper> keeper_;  // nullptr: no gate
  SocketAddress address_;
  std::unique_ptr<RouterInbox> inbox_;
  int signal_ = -1;  // ZeroMQ's descriptor, which becomes readable once for several arrivals
  UniqueFd poke_;    // an eventfd that wakes the thread
  std::atomic<bool> stopping_ = false;
  std::thread thread_;
};

}  // namespace pingloom::net
