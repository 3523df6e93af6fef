#include "scripted_router.h"

#include <gtest/gtest.h>

namespace pingloom::agent {

ScriptedRouter::ScriptedRouter(std::uint16_t port) {
  socket_.set(zmq::sockopt::linger, 0);
  socket_.bind("tcp://127.0.0.1:" + (port == 0 ? "*" : std::to_string(port)));
  const std::string bound = socket_.get(zmq::sockopt::last_endpoint);
  port_ = static_cast<std::uint16_t>(std::stoi(bound.substr(bound.rfind(':') + 1)));
}

std::optional<ScriptedRouter::Message> ScriptedRouter::receive() {
  Message message;
  zmq::message_t frame;
  if (!socket_.recv(frame, zmq::recv_flags::dontwait)) return std::nullopt;
  message.from = frame.to_string();
  if (!socket_.recv(frame, zmq::recv_flags::dontwait)) return std::nullopt;
  EXPECT_TRUE(message.body.ParseFromArray(frame.data(), static_cast<int>(frame.size())));
  EXPECT_FALSE(frame.more()) << "messages are of one frame";
  return message;
}

void ScriptedRouter::send(const std::string& to, const wire::ControllerMessage& message) {
  sendRaw(to, message.SerializeAsString());
}

void ScriptedRouter::sendRaw(const std::string& to, const std::string& bytes, bool more_follows) {
  socket_.send(zmq::buffer(to), zmq::send_flags::sndmore);
  socket_.send(zmq::buffer(bytes), more_follows ? zmq::send_flags::sndmore : zmq::send_flags::none);
  if (more_follows) socket_.send(zmq::str_buffer("tail"));
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
