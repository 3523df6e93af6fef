#include "net/zmq_router.h"

#include <utility>

#include "net/zmq_calls.h"

namespace pingloom::net {

// Without a gate no message has a user, and asking for one would throw for each of them.
std::optional<CurveKey> ZmqFrame::key() {
  if (!guarded_) return std::nullopt;
  auto key = CurveKey::parse(zmqValue("", [&] { return message_.gets("User-Id"); }));
  return key ? std::optional(*key) : std::nullopt;
}

std::string_view ZmqFrame::peer() {
  return zmqValue("", [&] { return message_.gets("Peer-Address"); });
}

// The gate keeper's thread ends when its calls fail, which they do once the context is shut down.
ZmqRouter::~ZmqRouter() {
  if (keeper_ != nullptr) context_.shutdown();
}

Result<std::unique_ptr<ZmqRouter>> ZmqRouter::bind(const SocketAddress& address,
                                                   const RouterOptions& options) {
  const std::string entity = "control " + address.text();
  std::unique_ptr<ZmqRouter> made;
  auto status = zmqCall(entity, "cannot create a socket", [&] { made.reset(new ZmqRouter); });
  if (status) status = made->guard(options.gate);
  if (status) status = zmqCall(entity, "cannot listen", [&] { made->open(address, options); });
  if (!status) return tl::unexpected(status.error());
  return made;
}

// This comes before the socket binds: without a gate keeper libzmq admits every peer that encrypts.
Status ZmqRouter::guard(const std::shared_ptr<PeerGate>& gate) {
  if (gate == nullptr) return {};
  auto status = zmqCall("keys", "cannot use CURVE", [&] {
    socket_.set(zmq::sockopt::curve_server, true);
    socket_.set(zmq::sockopt::curve_secretkey, gate->own().secret.text());
    socket_.set(zmq::sockopt::zap_domain, "pingloom");
  });
  if (!status) return status;
  auto keeper = GateKeeper::start(context_, socket_, gate);
  if (!keeper) return tl::unexpected(keeper.error());
  keeper_ = std::move(*keeper);
  return {};
}

void ZmqRouter::open(const SocketAddress& address, const RouterOptions& options) {
  const bool is_v4 = address.address.isV4();
  socket_.set(zmq::sockopt::maxmsgsize, static_cast<std::int64_t>(options.largest));
  socket_.set(zmq::sockopt::router_mandatory, true);
  socket_.set(zmq::sockopt::linger, 0);
  socket_.set(zmq::sockopt::rcvhwm, kMaxWaitingIn);
  socket_.set(zmq::sockopt::sndhwm, options.waiting_out);
  socket_.set(zmq::sockopt::tcp_keepalive, 1);
  socket_.set(zmq::sockopt::tcp_keepalive_idle, 30);
  socket_.set(zmq::sockopt::backlog, 4096);
  socket_.set(zmq::sockopt::handshake_ivl, kHandshakeMs);
  socket_.set(zmq::sockopt::ipv6, !is_v4);
  const std::string port = address.port == 0 ? "*" : std::to_string(address.port);
  const std::string host = is_v4 ? address.address.text() : "[" + address.address.text() + "]";
  constexpr std::string_view kTcp = "tcp://";
  socket_.bind(std::string(kTcp) + host + ":" + port);
  descriptor_ = socket_.get(zmq::sockopt::fd);
  const std::string endpoint = socket_.get(zmq::sockopt::last_endpoint);
  address_ = SocketAddress::parse(endpoint.substr(kTcp.size())).value_or(address);
}

bool ZmqRouter::readable() const {
  const int events = zmqValue(0, [&] { return socket_.get(zmq::sockopt::events); });
  return (events & ZMQ_POLLIN) != 0;
}

std::optional<ZmqRouter::Message> ZmqRouter::receive() {
  constexpr auto kNow = zmq::recv_flags::dontwait;
  return zmqValue(std::optional<Message>(), [&]() -> std::optional<Message> {
    zmq::message_t frame;
    if (!socket_.recv(frame, kNow)) return std::nullopt;
    Message message{frame.to_string(), nullptr};
    if (!frame.more() || !socket_.recv(frame, kNow)) return message;
    if (!frame.more()) {
      message.frame = std::make_unique<ZmqFrame>(std::move(frame), keeper_ != nullptr);
      return message;
    }
    while (frame.more() && socket_.recv(frame, kNow)) {
    }
    return message;
  });
}

bool ZmqRouter::send(const std::string& route, std::string_view bytes) {
  return zmqValue(false, [&] { return sendMessage(route, zmq::message_t(bytes)); });
}

bool ZmqRouter::send(const std::string& route, std::shared_ptr<const std::string> bytes) {
  using Shared = std::shared_ptr<const std::string>;
  auto shared = std::make_unique<Shared>(std::move(bytes));
  const auto release = [](void*, void* hint) { delete static_cast<Shared*>(hint); };
  return zmqValue(false, [&] {
    // ZeroMQ takes a pointer to mutable bytes and never writes to them.
    auto* data = const_cast<char*>((*shared)->data());
    zmq::message_t message(data, (*shared)->size(), release, shared.get());
    (void)shared.release();  // the message owns it now
    return sendMessage(route, std::move(message));
  });
}

bool ZmqRouter::sendMessage(const std::string& route, zmq::message_t message) {
  constexpr auto kNow = zmq::send_flags::dontwait;
  return socket_.send(zmq::buffer(route), kNow | zmq::send_flags::sndmore) &&
         socket_.send(message, kNow);
}

}  // namespace pingloom::net
