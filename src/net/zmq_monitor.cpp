#include "net/zmq_monitor.h"

#include <atomic>
#include <cstring>

#include "net/zmq_calls.h"

namespace pingloom::net {
namespace {

// Every monitor of a context needs a name of its own.
std::string uniqueName() {
  static std::atomic<std::uint64_t> number = 0;
  return "inproc://monitor-" + std::to_string(++number);
}

ZmqMonitor::Event parseReport(const zmq::message_t& report) {
  ZmqMonitor::Event event;
  if (report.size() != sizeof event.kind + sizeof event.value) return event;
  const char* bytes = report.data<char>();
  std::memcpy(&event.kind, bytes, sizeof event.kind);
  std::memcpy(&event.value, bytes + sizeof event.kind, sizeof event.value);
  return event;
}

}  // namespace

ZmqMonitor::ZmqMonitor(zmq::context_t& context, zmq::socket_t& socket, int events)
    : reports_(context, zmq::socket_type::pair) {
  const std::string name = uniqueName();
  if (zmq_socket_monitor(socket.handle(), name.c_str(), events) != 0) throw zmq::error_t();
  reports_.set(zmq::sockopt::linger, 0);
  reports_.connect(name);
}

// A report has two frames: what happened, and the address that the socket connects or listens to.
std::optional<ZmqMonitor::Event> ZmqMonitor::take() {
  zmq::message_t report;
  const auto receive = [this](zmq::message_t& frame) {
    return zmqUninterrupted(
        [&] { return reports_.recv(frame, zmq::recv_flags::dontwait).has_value(); });
  };
  if (!receive(report)) return std::nullopt;
  zmq::message_t rest;
  for (bool more = report.more(); more;) more = receive(rest) && rest.more();
  return parseReport(report);
}

}  // namespace pingloom::net
