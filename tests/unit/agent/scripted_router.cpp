#include "scripted_router.h"

#include <gtest/gtest.h>
#include <zmq.h>

#include <array>

namespace pingloom::agent {

ScriptedRouter::ScriptedRouter(std::uint16_t port)
    : context_(zmq_ctx_new()), socket_(zmq_socket(context_, ZMQ_ROUTER)) {
  const int linger = 0;
  zmq_setsockopt(socket_, ZMQ_LINGER, &linger, sizeof linger);
  const std::string wanted = "tcp://127.0.0.1:" + (port == 0 ? "*" : std::to_string(port));
  EXPECT_EQ(zmq_bind(socket_, wanted.c_str()), 0) << zmq_strerror(zmq_errno());
  std::array<char, 64> bound{};
  std::size_t size = bound.size();
  zmq_getsockopt(socket_, ZMQ_LAST_ENDPOINT, bound.data(), &size);
  const std::string text = bound.data();
  port_ = static_cast<std::uint16_t>(std::stoi(text.substr(text.rfind(':') + 1)));
}

ScriptedRouter::~ScriptedRouter() {
  zmq_close(socket_);
  zmq_ctx_term(context_);
}

int ScriptedRouter::descriptor() const {
  int descriptor = -1;
  std::size_t size = sizeof descriptor;
  zmq_getsockopt(socket_, ZMQ_FD, &descriptor, &size);
  return descriptor;
}

std::optional<ScriptedRouter::Message> ScriptedRouter::receive() {
  Message message;
  for (int frame = 0; frame < 2; ++frame) {
    zmq_msg_t part;
    zmq_msg_init(&part);
    if (zmq_msg_recv(&part, socket_, ZMQ_DONTWAIT) < 0) return std::nullopt;
    const std::string bytes(static_cast<const char*>(zmq_msg_data(&part)), zmq_msg_size(&part));
    if (frame == 0) {
      message.from = bytes;
    } else {
      EXPECT_TRUE(message.body.ParseFromString(bytes));
      EXPECT_EQ(zmq_msg_more(&part), 0) << "messages are of one frame";
    }
    zmq_msg_close(&part);
  }
  return message;
}

void ScriptedRouter::send(const std::string& to, const wire::ControllerMessage& message) {
  sendRaw(to, message.SerializeAsString());
}

void ScriptedRouter::sendRaw(const std::string& to, const std::string& bytes, bool more_follows) {
  zmq_send(socket_, to.data(), to.size(), ZMQ_SNDMORE);
  zmq_send(socket_, bytes.data(), bytes.size(), more_follows ? ZMQ_SNDMORE : 0);
  if (more_follows) zmq_send(socket_, "tail", 4, 0);
}

wire::ControllerMessage registeredMessage(std::uint64_t incarnation, std::uint64_t sequence) {
  wire::ControllerMessage message;
  wire::Registered& body = *message.mutable_registered();
  body.set_heartbeat_interval_ns(kSecond);
  body.set_lease_ns(4 * kSecond);
  body.set_acked_incarnation(incarnation);
  body.set_acked_sequence(sequence);
  return message;
}

wire::ControllerMessage refusedMessage(wire::Refused::Reason reason) {
  wire::ControllerMessage message;
  message.mutable_refused()->set_reason(reason);
  message.mutable_refused()->set_text("because the test says so");
  return message;
}

wire::ControllerMessage replyMessage(Nanos agent_mono, Nanos controller_utc) {
  wire::ControllerMessage message;
  message.mutable_heartbeat_reply()->set_agent_mono_ns(agent_mono);
  message.mutable_heartbeat_reply()->set_controller_utc_ns(controller_utc);
  return message;
}

wire::ControllerMessage ackMessage(std::uint64_t incarnation, std::uint64_t sequence) {
  wire::ControllerMessage message;
  message.mutable_ack()->set_incarnation(incarnation);
  message.mutable_ack()->set_sequence(sequence);
  return message;
}

}  // namespace pingloom::agent
