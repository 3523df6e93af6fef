// An agent's end of the control connection, for tests.
#pragma once

#include <zmq.h>

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "common/address.h"
#include "control.pb.h"

namespace pingloom::controller::test {

class Dealer {
 public:
  explicit Dealer(const SocketAddress& controller)
      : context_(zmq_ctx_new()), socket_(zmq_socket(context_, ZMQ_DEALER)) {
    const int linger = 0;
    zmq_setsockopt(socket_, ZMQ_LINGER, &linger, sizeof linger);
    zmq_connect(socket_, ("tcp://" + controller.text()).c_str());
  }
  ~Dealer() {
    zmq_close(socket_);
    zmq_ctx_term(context_);
  }
  Dealer(const Dealer&) = delete;
  Dealer& operator=(const Dealer&) = delete;

  void send(std::string_view bytes, bool more = false) {
    zmq_send(socket_, bytes.data(), bytes.size(), more ? ZMQ_SNDMORE : 0);
  }
  void send(const wire::AgentMessage& message) { send(message.SerializeAsString()); }

  // The next message, if one is there.
  std::optional<wire::ControllerMessage> receive() {
    zmq_msg_t frame;
    zmq_msg_init(&frame);
    std::optional<wire::ControllerMessage> message;
    if (zmq_msg_recv(&frame, socket_, ZMQ_DONTWAIT) >= 0) {
      message.emplace();
      message->ParseFromArray(zmq_msg_data(&frame), static_cast<int>(zmq_msg_size(&frame)));
    }
    zmq_msg_close(&frame);
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
      zmq_pollitem_t item{socket_, 0, ZMQ_POLLIN, 0};
      zmq_poll(&item, 1, 5);
    }
    return std::nullopt;
  }

 private:
  void* context_;
  void* socket_;
};

}  // namespace pingloom::controller::test
