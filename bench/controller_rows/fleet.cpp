#include "fleet.h"

#include <chrono>
#include <random>

#include "common/distribution.h"
#include "common/duration.h"
#include "control.pb.h"
#include "net/zmq_calls.h"
#include "wire/distribution_codec.h"

namespace pingloom::bench {
namespace {

constexpr std::uint64_t kIncarnation = 1;
constexpr Nanos kGiveUp = 120 * kSecond;
// The last window begins this many windows after now: it may not end more than a minute after it.
constexpr std::uint64_t kWindowsAhead = 2;

void fill(std::mt19937_64& random, std::uint64_t middle, wire::SampleSet& out) {
  Distribution samples;
  for (std::uint32_t i = 0; i < kSamplesPerPart; ++i) {
    samples.add(middle + random() % (middle / 4));
  }
  wire::encode(samples, out);
}

void sendMessage(zmq::socket_t& socket, const wire::AgentMessage& message) {
  socket.send(zmq::buffer(message.SerializeAsString()), zmq::send_flags::dontwait);
}

}  // namespace

std::string prebuiltRows(const Shape& shape) {
  std::mt19937_64 random(7);
  wire::Report report;
  for (std::uint32_t i = 0; i < shape.destinations; ++i) {
    wire::Row& row = *report.add_rows();
    row.set_destination(destinationOf(i).wire());
    row.set_sent(kSamplesPerPart);
    row.set_received(kSamplesPerPart);
    fill(random, 9'000, *row.mutable_network());
    fill(random, 12'000, *row.mutable_responder());
    fill(random, 15'000, *row.mutable_prober());
    fill(random, 36'000, *row.mutable_rtt());
    row.set_jitter_ns(random() % 2'000);
  }
  return report.SerializeAsString();
}

std::string batchMessage(const std::string& rows, std::uint32_t agent, std::uint64_t sequence,
                         std::uint64_t window_index) {
  wire::Report head;
  head.set_probe(kProbe);
  head.set_source(sourceOf(agent).wire());
  head.set_protocol(wire::UDP);
  head.set_window_index(window_index);
  head.set_window_ns(kWindow);
  head.set_clock(2);
  head.set_device("eth0");
  const auto prefixed = [](char tag, std::size_t size) {
    std::string bytes(1, tag);
    for (; size >= 0x80; size >>= 7) bytes += static_cast<char>((size & 0x7f) | 0x80);
    return bytes + static_cast<char>(size);
  };
  const std::string head_bytes = head.SerializeAsString();
  wire::Batch batch;
  batch.set_incarnation(kIncarnation);
  batch.set_sequence(sequence);
  std::string body = batch.SerializeAsString();
  body += prefixed((wire::Batch::kReportsFieldNumber << 3) | 2, head_bytes.size() + rows.size());
  std::string message = prefixed((wire::AgentMessage::kBatchFieldNumber << 3) | 2,
                                 body.size() + head_bytes.size() + rows.size());
  message += body;
  message += head_bytes;
  message += rows;
  return message;
}

Result<std::unique_ptr<Fleet>> Fleet::connect(const std::string& control, const Shape& shape) {
  std::unique_ptr<Fleet> made(new Fleet(shape));
  made->rows_ = prebuiltRows(shape);
  if (auto status = made->open(control); !status) return tl::unexpected(status.error());
  return made;
}

void Fleet::start(const std::string& control) {
  for (std::uint32_t i = 0; i < shape_.agents; ++i) {
    Agent agent;
    agent.socket = zmq::socket_t(context_, zmq::socket_type::dealer);
    agent.socket.set(zmq::sockopt::linger, 0);
    agent.socket.connect(control);
    wire::AgentMessage message;
    wire::Register& request = *message.mutable_registration();
    request.set_control_version(1);
    request.set_host("load-" + std::to_string(i));
    request.set_incarnation(kIncarnation);
    request.set_software_version("bench");
    request.add_addresses(sourceOf(i).wire());
    request.set_port(20710);
    sendMessage(agent.socket, message);
    agents_.push_back(std::move(agent));
  }
}

Status Fleet::open(const std::string& control) {
  auto started = net::zmqCall(control, "cannot connect", [&] { start(control); });
  if (!started) return started;
  const Nanos give_up = monotonicNow() + kGiveUp;
  for (Agent& agent : agents_) {
    while (!agent.registered) {
      if (auto status = receive(agent); !status) return status;
      if (monotonicNow() > give_up)
        return makeError("fleet", "not registered within " + formatDuration(kGiveUp));
    }
  }
  return {};
}

Status Fleet::receive(Agent& agent) {
  for (;;) {
    zmq::message_t frame;
    if (!agent.socket.recv(frame, zmq::recv_flags::dontwait)) return {};
    wire::ControllerMessage message;
    message.ParseFromArray(frame.data(), static_cast<int>(frame.size()));
    if (message.has_registered()) agent.registered = true;
    if (message.has_ack()) agent.acknowledged = message.ack().sequence();
    if (message.has_refused()) {
      return makeError("refused", wire::Refused::Reason_Name(message.refused().reason()) + " " +
                                      message.refused().text());
    }
  }
}

void Fleet::sendDue(Agent& agent, std::uint64_t allowed, Nanos now) {
  if (now >= agent.heartbeat_due) {
    wire::AgentMessage message;
    message.mutable_heartbeat()->set_incarnation(kIncarnation);
    message.mutable_heartbeat()->set_agent_mono_ns(now);
    sendMessage(agent.socket, message);
    agent.heartbeat_due = now + kSecond;
  }
  while (agent.sent < allowed && agent.sent - agent.acknowledged < kInFlight) {
    const std::string message =
        batchMessage(rows_, static_cast<std::uint32_t>(&agent - agents_.data()), agent.sent + 1,
                     first_window_ + agent.sent);
    if (!agent.socket.send(zmq::buffer(message), zmq::send_flags::dontwait)) return;
    ++agent.sent;
  }
}

Status Fleet::deliver(double rate) {
  first_window_ = static_cast<std::uint64_t>(utcNow() / kWindow) + kWindowsAhead - shape_.rounds;
  const Nanos started = monotonicNow();
  std::vector<zmq::pollitem_t> items;
  for (Agent& agent : agents_) items.push_back({agent.socket.handle(), 0, ZMQ_POLLIN, 0});
  std::size_t done = 0;
  while (done < agents_.size()) {
    const Nanos now = monotonicNow();
    if (now - started > kGiveUp)
      return makeError("fleet", "not acknowledged within " + formatDuration(kGiveUp));
    std::uint64_t allowed = shape_.rounds;
    if (rate > 0) {
      const double rows = rate * static_cast<double>(now - started) / 1e9;
      allowed = std::min(
          allowed, 1 + static_cast<std::uint64_t>(rows / static_cast<double>(shape_.pairs())));
    }
    done = 0;
    for (Agent& agent : agents_) {
      sendDue(agent, allowed, now);
      done += agent.acknowledged >= shape_.rounds ? 1 : 0;
    }
    if (done == agents_.size()) break;
    zmq::poll(items, std::chrono::milliseconds(rate > 0 ? 1 : 10));
    for (std::size_t i = 0; i < items.size(); ++i) {
      if (items[i].revents == 0) continue;
      if (auto status = receive(agents_[i]); !status) return status;
    }
  }
  return {};
}

}  // namespace pingloom::bench
