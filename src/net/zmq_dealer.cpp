#include "net/zmq_dealer.h"

#include <cstring>

#include "net/zmq_calls.h"

namespace pingloom::net {
namespace {

constexpr int kFailedHandshakes = ZMQ_EVENT_HANDSHAKE_FAILED_NO_DETAIL |
                                  ZMQ_EVENT_HANDSHAKE_FAILED_PROTOCOL |
                                  ZMQ_EVENT_HANDSHAKE_FAILED_AUTH;

void encrypt(zmq::socket_t& socket, const DealerOptions::Curve& curve) {
  socket.set(zmq::sockopt::curve_serverkey, curve.server.text());
  socket.set(zmq::sockopt::curve_publickey, curve.own.public_key.text());
  socket.set(zmq::sockopt::curve_secretkey, curve.own.secret.text());
}

void setOptions(zmq::socket_t& socket, const DealerOptions& options) {
  socket.set(zmq::sockopt::linger, 0);
  socket.set(zmq::sockopt::sndhwm, ZmqDealer::kHighWater);
  socket.set(zmq::sockopt::rcvhwm, ZmqDealer::kHighWater);
  socket.set(zmq::sockopt::immediate, true);
  socket.set(zmq::sockopt::ipv6, true);
  socket.set(zmq::sockopt::reconnect_ivl, 100);
  socket.set(zmq::sockopt::reconnect_ivl_max, 2000);
  socket.set(zmq::sockopt::connect_timeout, 2000);
  socket.set(zmq::sockopt::handshake_ivl, 5000);
  socket.set(zmq::sockopt::tcp_maxrt, ZmqDealer::kDeadMs);
  socket.set(zmq::sockopt::tcp_keepalive, 1);
  socket.set(zmq::sockopt::tcp_keepalive_idle, 1);
  socket.set(zmq::sockopt::tcp_keepalive_intvl, 1);
  socket.set(zmq::sockopt::tcp_keepalive_cnt, ZmqDealer::kDeadMs / 1000);
  socket.set(zmq::sockopt::maxmsgsize, static_cast<std::int64_t>(options.largest));
  if (options.curve) encrypt(socket, *options.curve);
}

// What stands before the peer in ZeroMQ's endpoint: the address to connect from, if any.
std::string sourceOf(const std::string& peer, const DealerOptions& options) {
  const auto address = SocketAddress::parse(peer);
  if (!options.source || !address) return "";
  if (options.source->isV4() != address->address.isV4()) return "";
  return SocketAddress{*options.source, 0}.text() + ";";
}

}  // namespace

ZmqContext::ZmqContext(int max_sockets)
    : context_(zmqCall("ZeroMQ", "cannot create a context",
                       [=] { return zmq::context_t(1, max_sockets); })) {}

Status ZmqDealer::open(ZmqContext& context, const std::string& peer, const DealerOptions& options) {
  close(0);
  if (!context.context_) return tl::unexpected(context.context_.error());
  auto status = zmqCall("control " + peer, "cannot connect",
                        [&] { connect(*context.context_, peer, options); });
  if (!status) close(0);
  return status;
}

void ZmqDealer::connect(zmq::context_t& context, const std::string& peer,
                        const DealerOptions& options) {
  socket_ = zmq::socket_t(context, zmq::socket_type::dealer);
  setOptions(socket_, options);
  if (options.watch_handshakes) handshakes_.emplace(context, socket_, kFailedHandshakes);
  descriptor_ = socket_.get(zmq::sockopt::fd);
  socket_.connect("tcp://" + sourceOf(peer, options) + peer);
}

void ZmqDealer::close(int linger_ms) {
  if (!isOpen()) return;
  (void)zmqCall("", "linger", [&] { socket_.set(zmq::sockopt::linger, linger_ms); });
  socket_.close();
  handshakes_.reset();
  descriptor_ = -1;
}

HandshakeFault ZmqDealer::takeHandshakeFault() {
  HandshakeFault fault = HandshakeFault::kNone;
  while (handshakes_) {
    const auto event =
        zmqValue(std::optional<ZmqMonitor::Event>(), [&] { return handshakes_->take(); });
    if (!event) break;
    fault = event->kind == ZMQ_EVENT_HANDSHAKE_FAILED_AUTH ? HandshakeFault::kKeyRefused
                                                           : HandshakeFault::kBroken;
  }
  return fault;
}

bool ZmqDealer::connected() { return state().connected; }
bool ZmqDealer::readable() { return state().readable; }

ZmqDealer::State ZmqDealer::state() {
  if (!isOpen()) return {};
  const int ready = zmqValue(0, [&] { return socket_.get(zmq::sockopt::events); });
  return {(ready & ZMQ_POLLOUT) != 0, (ready & ZMQ_POLLIN) != 0};
}

bool ZmqDealer::send(std::string_view head, std::string_view body) {
  if (!isOpen()) return false;
  return zmqValue(false, [&] {
    zmq::message_t message(head.size() + body.size());
    if (!head.empty()) std::memcpy(message.data(), head.data(), head.size());
    if (!body.empty()) std::memcpy(message.data<char>() + head.size(), body.data(), body.size());
    return socket_.send(message, zmq::send_flags::dontwait).has_value();
  });
}

ZmqDealer::Received ZmqDealer::receive(std::string& out) {
  if (!isOpen()) return Received::kNothing;
  return zmqValue(Received::kNothing, [&] {
    zmq::message_t message;
    if (!socket_.recv(message, zmq::recv_flags::dontwait)) return Received::kNothing;
    if (!message.more()) {
      out.assign(message.to_string_view());
      return Received::kMessage;
    }
    while (message.more() && socket_.recv(message, zmq::recv_flags::dontwait)) {
    }
    return Received::kBad;
  });
}

}  // namespace pingloom::net
