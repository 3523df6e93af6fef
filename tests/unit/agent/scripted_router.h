// The controller's end of the control protocol, as a test plays it: a ROUTER on a free loopback
// port that says only what it is told to say.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <zmq.hpp>

#include "common/time.h"
#include "control.pb.h"

namespace pingloom::agent {

class ScriptedRouter {
 public:
  struct Message {
    std::string from;
    wire::AgentMessage body;
  };

  explicit ScriptedRouter(std::uint16_t port = 0);

  std::uint16_t port() const { return port_; }
  std::string address() const { return "127.0.0.1:" + std::to_string(port_); }
  int descriptor() const { return socket_.get(zmq::sockopt::fd); }

  std::optional<Message> receive();  // what is there
  void send(const std::string& to, const wire::ControllerMessage& message);
  void sendRaw(const std::string& to, const std::string& bytes, bool more_follows = false);

 private:
  zmq::context_t context_;
  zmq::socket_t socket_ = zmq::socket_t(context_, zmq::socket_type::router);
  std::uint16_t port_ = 0;
};

// Answers as the controller would.
wire::ControllerMessage registeredMessage(std::uint64_t incarnation = 0,
                                          std::uint64_t sequence = 0);
wire::ControllerMessage refusedMessage(wire::Refused::Reason reason);
wire::ControllerMessage replyMessage(Nanos agent_mono, Nanos controller_utc);
wire::ControllerMessage ackMessage(std::uint64_t incarnation, std::uint64_t sequence);

}  // namespace pingloom::agent
