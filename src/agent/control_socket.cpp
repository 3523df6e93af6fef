#include "agent/control_socket.h"

#include <zmq.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

namespace pingloom::agent {
namespace {

class Message {
 public:
  Message() { zmq_msg_init(&message_); }
  explicit Message(std::size_t bytes) { zmq_msg_init_size(&message_, bytes); }
  Message(const Message&) = delete;
  Message& operator=(const Message&) = delete;
  ~Message() { zmq_msg_close(&message_); }

  zmq_msg_t* get() { return &message_; }
  char* data() { return static_cast<char*>(zmq_msg_data(&message_)); }
  std::size_t size() { return zmq_msg_size(&message_); }

 private:
  zmq_msg_t message_{};
};

void set(void* socket, int option, int value) {
  zmq_setsockopt(socket, option, &value, sizeof value);
}

}  // namespace

ControlContext::ControlContext(int max_sockets) : context_(zmq_ctx_new()) {
  zmq_ctx_set(context_, ZMQ_MAX_SOCKETS, max_sockets);
  zmq_ctx_set(context_, ZMQ_IO_THREADS, 1);
}

ControlContext::~ControlContext() {
  while (zmq_ctx_term(context_) != 0 && errno == EINTR) {
  }
}

Status ControlSocket::open(ControlContext& context, const std::string& controller) {
  close(0);
  socket_ = zmq_socket(context.context_, ZMQ_DEALER);
  if (socket_ == nullptr) return makeError("controller " + controller, zmq_strerror(zmq_errno()));
  static constexpr std::array<std::pair<int, int>, 9> kOptions = {{
      {ZMQ_LINGER, 0},
      {ZMQ_SNDHWM, kHighWater},
      {ZMQ_RCVHWM, kHighWater},
      {ZMQ_IMMEDIATE, 1},
      {ZMQ_IPV6, 1},
      {ZMQ_RECONNECT_IVL, 100},
      {ZMQ_RECONNECT_IVL_MAX, 2000},
      {ZMQ_CONNECT_TIMEOUT, 2000},
      {ZMQ_HANDSHAKE_IVL, 5000},
  }};
  for (const auto& [option, value] : kOptions) set(socket_, option, value);
  const auto largest = static_cast<std::int64_t>(kMaxMessage);
  zmq_setsockopt(socket_, ZMQ_MAXMSGSIZE, &largest, sizeof largest);
  std::size_t size = sizeof descriptor_;
  zmq_getsockopt(socket_, ZMQ_FD, &descriptor_, &size);
  if (zmq_connect(socket_, ("tcp://" + controller).c_str()) != 0) {
    auto error = makeError("controller " + controller, zmq_strerror(zmq_errno()));
    close(0);
    return error;
  }
  return {};
}

void ControlSocket::close(int linger_ms) {
  if (socket_ == nullptr) return;
  set(socket_, ZMQ_LINGER, linger_ms);
  zmq_close(socket_);
  socket_ = nullptr;
  descriptor_ = -1;
}

int ControlSocket::events() {
  int events = 0;
  std::size_t size = sizeof events;
  if (socket_ == nullptr || zmq_getsockopt(socket_, ZMQ_EVENTS, &events, &size) != 0) return 0;
  return events;
}

bool ControlSocket::connected() { return (events() & ZMQ_POLLOUT) != 0; }
bool ControlSocket::readable() { return (events() & ZMQ_POLLIN) != 0; }

bool ControlSocket::send(std::string_view head, std::string_view body) {
  if (socket_ == nullptr) return false;
  Message message(head.size() + body.size());
  std::memcpy(message.data(), head.data(), head.size());
  if (!body.empty()) std::memcpy(message.data() + head.size(), body.data(), body.size());
  return zmq_msg_send(message.get(), socket_, ZMQ_DONTWAIT) >= 0;
}

ControlSocket::Received ControlSocket::receive(std::string& out) {
  Message message;
  if (socket_ == nullptr || zmq_msg_recv(message.get(), socket_, ZMQ_DONTWAIT) < 0) {
    return Received::kNothing;
  }
  if (zmq_msg_more(message.get()) == 0) {
    out.assign(message.data(), message.size());
    return Received::kMessage;
  }
  while (zmq_msg_more(message.get()) != 0) {
    if (zmq_msg_recv(message.get(), socket_, ZMQ_DONTWAIT) < 0) break;
  }
  return Received::kBad;
}

}  // namespace pingloom::agent
