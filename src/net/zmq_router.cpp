#include "net/zmq_router.h"

#include <zmq.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

namespace pingloom::net {
namespace {

bool setInt(void* socket, int option, int value) {
  return zmq_setsockopt(socket, option, &value, sizeof value) == 0;
}

bool moreFollows(void* socket) {
  int more = 0;
  std::size_t size = sizeof more;
  return zmq_getsockopt(socket, ZMQ_RCVMORE, &more, &size) == 0 && more != 0;
}

}  // namespace

ZmqFrame::ZmqFrame() : message_(new zmq_msg_t) { zmq_msg_init(message_.get()); }

void ZmqFrame::Close::operator()(zmq_msg_t* message) const {
  zmq_msg_close(message);
  delete message;
}

std::string_view ZmqFrame::bytes() const {
  return {static_cast<const char*>(zmq_msg_data(message_.get())), zmq_msg_size(message_.get())};
}

std::optional<CurveKey> ZmqFrame::key() const {
  const char* user = zmq_msg_gets(message_.get(), "User-Id");
  if (user == nullptr) return std::nullopt;
  auto key = CurveKey::parse(user);
  return key ? std::optional(*key) : std::nullopt;
}

std::string_view ZmqFrame::peer() const {
  const char* address = zmq_msg_gets(message_.get(), "Peer-Address");
  return address == nullptr ? "" : address;
}

void ZmqRouter::TerminateContext::operator()(void* context) const { zmq_ctx_term(context); }
void ZmqRouter::CloseSocket::operator()(void* socket) const { zmq_close(socket); }

// The gate keeper's thread ends with the context, which ends when all its sockets are closed.
ZmqRouter::~ZmqRouter() {
  if (keeper_ != nullptr) zmq_ctx_shutdown(context_.get());
}

Result<std::unique_ptr<ZmqRouter>> ZmqRouter::bind(const SocketAddress& address,
                                                   const RouterOptions& options) {
  std::unique_ptr<ZmqRouter> made(new ZmqRouter);
  if (auto status = made->open(address, options); !status) return tl::unexpected(status.error());
  return made;
}

// Before the socket binds: without a keeper libzmq would let everybody in who encrypts.
Status ZmqRouter::guard(const std::shared_ptr<PeerGate>& gate) {
  if (gate == nullptr) return {};
  constexpr std::string_view kDomain = "pingloom";
  const std::string text(gate->own().secret.text());  // libzmq wants its zero
  if (!setInt(socket_.get(), ZMQ_CURVE_SERVER, 1) ||
      zmq_setsockopt(socket_.get(), ZMQ_CURVE_SECRETKEY, text.c_str(), text.size() + 1) != 0 ||
      zmq_setsockopt(socket_.get(), ZMQ_ZAP_DOMAIN, kDomain.data(), kDomain.size()) != 0) {
    return makeError("keys", std::string("no CURVE: ") + zmq_strerror(zmq_errno()));
  }
  auto keeper = GateKeeper::start(context_.get(), socket_.get(), gate);
  if (!keeper) return tl::unexpected(keeper.error());
  keeper_ = std::move(*keeper);
  return {};
}

Status ZmqRouter::open(const SocketAddress& address, const RouterOptions& options) {
  const std::string entity = "control " + address.text();
  context_.reset(zmq_ctx_new());
  if (context_ == nullptr) return makeError(entity, "no ZeroMQ context");
  socket_.reset(zmq_socket(context_.get(), ZMQ_ROUTER));
  if (socket_ == nullptr) return makeError(entity, zmq_strerror(zmq_errno()));
  const auto largest = static_cast<std::int64_t>(options.largest);
  const bool set = zmq_setsockopt(socket_.get(), ZMQ_MAXMSGSIZE, &largest, sizeof largest) == 0 &&
                   setInt(socket_.get(), ZMQ_ROUTER_MANDATORY, 1) &&
                   setInt(socket_.get(), ZMQ_LINGER, 0) &&
                   setInt(socket_.get(), ZMQ_RCVHWM, kMaxWaitingIn) &&
                   setInt(socket_.get(), ZMQ_SNDHWM, options.waiting_out) &&
                   setInt(socket_.get(), ZMQ_TCP_KEEPALIVE, 1) &&
                   setInt(socket_.get(), ZMQ_TCP_KEEPALIVE_IDLE, 30) &&
                   setInt(socket_.get(), ZMQ_BACKLOG, 4096) &&
                   setInt(socket_.get(), ZMQ_HANDSHAKE_IVL, kHandshakeMs) &&
                   setInt(socket_.get(), ZMQ_IPV6, address.address.isV4() ? 0 : 1);
  if (auto status = guard(options.gate); !status) return status;
  const std::string port = address.port == 0 ? "*" : std::to_string(address.port);
  const std::string host =
      address.address.isV4() ? address.address.text() : "[" + address.address.text() + "]";
  if (!set || zmq_bind(socket_.get(), ("tcp://" + host + ":" + port).c_str()) != 0) {
    return makeError(entity, std::string("cannot listen: ") + zmq_strerror(zmq_errno()));
  }
  std::size_t size = sizeof descriptor_;
  zmq_getsockopt(socket_.get(), ZMQ_FD, &descriptor_, &size);
  std::array<char, 256> endpoint{};
  size = endpoint.size();
  zmq_getsockopt(socket_.get(), ZMQ_LAST_ENDPOINT, endpoint.data(), &size);
  const auto bound = SocketAddress::parse(endpoint.data() + std::strlen("tcp://"));
  address_ = bound.value_or(address);
  return {};
}

bool ZmqRouter::readable() const {
  int events = 0;
  std::size_t size = sizeof events;
  return zmq_getsockopt(socket_.get(), ZMQ_EVENTS, &events, &size) == 0 &&
         (events & ZMQ_POLLIN) != 0;
}

std::optional<ZmqRouter::Message> ZmqRouter::receive() {
  ZmqFrame route;
  if (zmq_msg_recv(route.get(), socket_.get(), ZMQ_DONTWAIT) < 0) return std::nullopt;
  Message message{std::string(route.bytes()), nullptr};
  if (!moreFollows(socket_.get())) return message;
  auto frame = std::make_unique<ZmqFrame>();
  if (zmq_msg_recv(frame->get(), socket_.get(), ZMQ_DONTWAIT) < 0) return message;
  if (!moreFollows(socket_.get())) {
    message.frame = std::move(frame);
    return message;
  }
  do {
    ZmqFrame rest;
    if (zmq_msg_recv(rest.get(), socket_.get(), ZMQ_DONTWAIT) < 0) break;
  } while (moreFollows(socket_.get()));
  return message;
}

bool ZmqRouter::send(const std::string& route, std::string_view bytes) {
  zmq_msg_t message;
  if (zmq_msg_init_size(&message, bytes.size()) != 0) return false;
  std::memcpy(zmq_msg_data(&message), bytes.data(), bytes.size());
  return sendMessage(route, &message);
}

bool ZmqRouter::send(const std::string& route, std::shared_ptr<const std::string> bytes) {
  using Shared = std::shared_ptr<const std::string>;
  auto* shared = new Shared(std::move(bytes));
  const auto release = [](void*, void* hint) { delete static_cast<Shared*>(hint); };
  zmq_msg_t message;
  // ZeroMQ wants it mutable and never writes to it.
  if (zmq_msg_init_data(&message, const_cast<char*>((*shared)->data()), (*shared)->size(), release,
                        shared) != 0) {
    delete shared;
    return false;
  }
  return sendMessage(route, &message);
}

bool ZmqRouter::sendMessage(const std::string& route, zmq_msg_t* message) {
  const bool sent =
      zmq_send(socket_.get(), route.data(), route.size(), ZMQ_DONTWAIT | ZMQ_SNDMORE) >= 0 &&
      zmq_msg_send(message, socket_.get(), ZMQ_DONTWAIT) >= 0;
  if (!sent) zmq_msg_close(message);
  return sent;
}

}  // namespace pingloom::net
