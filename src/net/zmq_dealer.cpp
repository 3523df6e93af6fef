#include "net/zmq_dealer.h"

#include <zmq.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <utility>

namespace pingloom::net {
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

ZmqContext::ZmqContext(int max_sockets) : context_(zmq_ctx_new()) {
  zmq_ctx_set(context_, ZMQ_MAX_SOCKETS, max_sockets);
  zmq_ctx_set(context_, ZMQ_IO_THREADS, 1);
}

ZmqContext::~ZmqContext() {
  while (zmq_ctx_term(context_) != 0 && errno == EINTR) {
  }
}

bool ZmqDealer::secure(const DealerOptions& options) {
  if (!options.curve) return true;
  const auto set_key = [this](int option, const CurveKey& key) {
    const std::string text(key.text());  // libzmq wants its zero
    return zmq_setsockopt(socket_, option, text.c_str(), text.size() + 1) == 0;
  };
  return set_key(ZMQ_CURVE_SERVERKEY, options.curve->server) &&
         set_key(ZMQ_CURVE_PUBLICKEY, options.curve->own.public_key) &&
         set_key(ZMQ_CURVE_SECRETKEY, options.curve->own.secret);
}

bool ZmqDealer::watch(ZmqContext& context) {
  static std::atomic<std::uint64_t> number = 0;  // a name of its own in the context
  const std::string name = "inproc://handshakes-" + std::to_string(++number);
  constexpr int kFailures = ZMQ_EVENT_HANDSHAKE_FAILED_NO_DETAIL |
                            ZMQ_EVENT_HANDSHAKE_FAILED_PROTOCOL | ZMQ_EVENT_HANDSHAKE_FAILED_AUTH;
  if (zmq_socket_monitor(socket_, name.c_str(), kFailures) != 0) return false;
  handshakes_ = zmq_socket(context.context_, ZMQ_PAIR);
  if (handshakes_ == nullptr) return false;
  set(handshakes_, ZMQ_LINGER, 0);
  return zmq_connect(handshakes_, name.c_str()) == 0;
}

HandshakeFault ZmqDealer::takeHandshakeFault() {
  HandshakeFault fault = HandshakeFault::kNone;
  while (handshakes_ != nullptr) {
    Message head;
    if (zmq_msg_recv(head.get(), handshakes_, ZMQ_DONTWAIT) < 0) break;
    std::uint16_t event = 0;
    if (head.size() >= sizeof event) std::memcpy(&event, head.data(), sizeof event);
    fault = event == ZMQ_EVENT_HANDSHAKE_FAILED_AUTH ? HandshakeFault::kKeyRefused
                                                     : HandshakeFault::kBroken;
    for (bool more = zmq_msg_more(head.get()) != 0; more;) {
      Message rest;
      more =
          zmq_msg_recv(rest.get(), handshakes_, ZMQ_DONTWAIT) >= 0 && zmq_msg_more(rest.get()) != 0;
    }
  }
  return fault;
}

Status ZmqDealer::open(ZmqContext& context, const std::string& peer, const DealerOptions& options) {
  close(0);
  socket_ = zmq_socket(context.context_, ZMQ_DEALER);
  if (socket_ == nullptr) return makeError("control " + peer, zmq_strerror(zmq_errno()));
  static constexpr std::array<std::pair<int, int>, 14> kOptions = {{
      {ZMQ_LINGER, 0},
      {ZMQ_SNDHWM, kHighWater},
      {ZMQ_RCVHWM, kHighWater},
      {ZMQ_IMMEDIATE, 1},
      {ZMQ_IPV6, 1},
      {ZMQ_RECONNECT_IVL, 100},
      {ZMQ_RECONNECT_IVL_MAX, 2000},
      {ZMQ_CONNECT_TIMEOUT, 2000},
      {ZMQ_HANDSHAKE_IVL, 5000},
      {ZMQ_TCP_MAXRT, kDeadMs},
      {ZMQ_TCP_KEEPALIVE, 1},
      {ZMQ_TCP_KEEPALIVE_IDLE, 1},
      {ZMQ_TCP_KEEPALIVE_INTVL, 1},
      {ZMQ_TCP_KEEPALIVE_CNT, kDeadMs / 1000},
  }};
  for (const auto& [option, value] : kOptions) set(socket_, option, value);
  const auto most = static_cast<std::int64_t>(options.largest);
  zmq_setsockopt(socket_, ZMQ_MAXMSGSIZE, &most, sizeof most);
  if (!secure(options) || (options.watch_handshakes && !watch(context))) {
    auto error = makeError("control " + peer, zmq_strerror(zmq_errno()));
    close(0);
    return error;
  }
  std::size_t size = sizeof descriptor_;
  zmq_getsockopt(socket_, ZMQ_FD, &descriptor_, &size);
  const auto address = SocketAddress::parse(peer);
  std::string from;
  if (options.source && address && options.source->isV4() == address->address.isV4()) {
    from = SocketAddress{*options.source, 0}.text() + ";";
  }
  if (zmq_connect(socket_, ("tcp://" + from + peer).c_str()) != 0) {
    auto error = makeError("control " + peer, zmq_strerror(zmq_errno()));
    close(0);
    return error;
  }
  return {};
}

void ZmqDealer::close(int linger_ms) {
  if (socket_ == nullptr) return;
  set(socket_, ZMQ_LINGER, linger_ms);
  zmq_close(socket_);
  if (handshakes_ != nullptr) zmq_close(std::exchange(handshakes_, nullptr));
  socket_ = nullptr;
  descriptor_ = -1;
}

int ZmqDealer::events() {
  int events = 0;
  std::size_t size = sizeof events;
  if (socket_ == nullptr || zmq_getsockopt(socket_, ZMQ_EVENTS, &events, &size) != 0) return 0;
  return events;
}

bool ZmqDealer::connected() { return (events() & ZMQ_POLLOUT) != 0; }
bool ZmqDealer::readable() { return (events() & ZMQ_POLLIN) != 0; }

bool ZmqDealer::send(std::string_view head, std::string_view body) {
  if (socket_ == nullptr) return false;
  Message message(head.size() + body.size());
  std::memcpy(message.data(), head.data(), head.size());
  if (!body.empty()) std::memcpy(message.data() + head.size(), body.data(), body.size());
  return zmq_msg_send(message.get(), socket_, ZMQ_DONTWAIT) >= 0;
}

ZmqDealer::Received ZmqDealer::receive(std::string& out) {
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

}  // namespace pingloom::net
