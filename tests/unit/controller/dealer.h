// An agent's end of the control connection, for tests.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <zmq.hpp>

#include "common/address.h"
#include "control.pb.h"

namespace pingloom::controller::test {

class Dealer {
 public:
  explicit Dealer(const SocketAddress& controller) {
    socket_.set(zmq::sockopt::linger, 0);
    socket_.connect("tcp://" + controller.text());
  }

  void send(std::string_view bytes, bool more = false) {
    socket_.send(zmq::buffer(bytes), more ? zmq::send_flags::sndmore : zmq::send_flags::none);
  }
  void send(const wire::AgentMessage& message) { send(message.SerializeAsString()); }

  // The next message, if one is there.
  std::optional<wire::ControllerMessage> receive() {
    zmq::message_t frame;
    if (!socket_.recv(frame, zmq::recv_flags::dontwait)) return std::nullopt;
    wire::ControllerMessage message;
    message.ParseFromArray(frame.data(), static_cast<int>(frame.size()));
    return message;
  }
  // The next message of this kind; others are dropped. `meanwhile` runs the other end.
  std::optional<wire::ControllerMessage> expect(
      wire::ControllerMessage::BodyCase kind, const std::function<void()>& meanwhile = [] {}) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (std::chrono::steady_clock::now() < end) {
      meanwhile();
      if (auto message = receive()) {
        if (message->body_case() == kind) return message;
        continue;
      }
      zmq::pollitem_t item{socket_.handle(), 0, ZMQ_POLLIN, 0};
      zmq::poll(&item, 1, std::chrono::milliseconds(5));
    }
    return std::nullopt;
  }

 private:
  zmq::context_t context_;
  zmq::socket_t socket_ = zmq::socket_t(context_, zmq::socket_type::dealer);
};

}  // namespace pingloom::controller::test
