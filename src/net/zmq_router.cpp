#include "net/zmq_router.h"

#include <pthread.h>
#include <sys/eventfd.h>

#include <cerrno>
#include <utility>

#include "common/poll_set.h"
#include "net/zmq_calls.h"

namespace pingloom::net {
namespace {

constexpr std::string_view kTcp = "tcp://";

// The thread gives the lock up after so many messages, so that the owner gets to send.
constexpr int kMessagesAtOnce = 64;

}  // namespace

// The gate keeper's thread ends when its calls fail, which they do once the context is shut down.
ZmqRouter::~ZmqRouter() {
  if (thread_.joinable()) {
    stopping_.store(true);
    ::eventfd_write(poke_.get(), 1);
    thread_.join();
  }
  if (keeper_ != nullptr) context_.shutdown();
}

Result<std::unique_ptr<ZmqRouter>> ZmqRouter::bind(const SocketAddress& address,
                                                   const RouterOptions& options) {
  const std::string entity = "control " + address.text();
  std::unique_ptr<ZmqRouter> made;
  auto status = zmqCall(entity, "cannot create a socket", [&] { made.reset(new ZmqRouter); });
  if (status) status = made->guard(options);
  if (status) status = zmqCall(entity, "cannot listen", [&] { made->open(address, options); });
  if (status) status = made->startThread();
  if (!status) return tl::unexpected(status.error());
  return made;
}

// This comes before the socket binds: without a gate keeper libzmq admits every peer that encrypts.
Status ZmqRouter::guard(const RouterOptions& options) {
  const auto& gate = options.gate;
  if (gate == nullptr) return {};
  auto status = zmqCall("keys", "cannot use CURVE", [&] {
    socket_.set(zmq::sockopt::curve_server, true);
    socket_.set(zmq::sockopt::curve_secretkey, gate->own().secret.text());
    socket_.set(zmq::sockopt::zap_domain, "pingloom");
  });
  if (!status) return status;
  auto keeper = GateKeeper::start(context_, socket_, gate, options.plaintext.has_value());
  if (!keeper) return tl::unexpected(keeper.error());
  keeper_ = std::move(*keeper);
  return {};
}

void ZmqRouter::open(const SocketAddress& address, const RouterOptions& options) {
  const bool is_v4 = address.address.isV4();
  socket_.set(zmq::sockopt::maxmsgsize, static_cast<std::int64_t>(options.largest));
  socket_.set(zmq::sockopt::router_mandatory, true);
  socket_.set(zmq::sockopt::linger, 0);
  socket_.set(zmq::sockopt::rcvhwm, 0);
  socket_.set(zmq::sockopt::sndhwm, options.waiting_out);
  socket_.set(zmq::sockopt::tcp_keepalive, 1);
  socket_.set(zmq::sockopt::tcp_keepalive_idle, 30);
  socket_.set(zmq::sockopt::backlog, 4096);
  socket_.set(zmq::sockopt::handshake_ivl, kHandshakeMs);
  socket_.set(zmq::sockopt::ipv6, !is_v4);
  listen(address);
  signal_ = socket_.get(zmq::sockopt::fd);
  const std::string endpoint = socket_.get(zmq::sockopt::last_endpoint);
  address_ = SocketAddress::parse(endpoint.substr(kTcp.size())).value_or(address);
  if (keeper_ == nullptr || !options.plaintext) return;
  // Each listener keeps the options that are set when it is made. libzmq cannot take back the
  // domain, so the gate keeper is asked about these peers too.
  socket_.set(zmq::sockopt::curve_server, false);
  socket_.set(zmq::sockopt::ipv6, !options.plaintext->address.isV4());
  listen(*options.plaintext);
}

void ZmqRouter::listen(const SocketAddress& address) {
  const std::string port = address.port == 0 ? "*" : std::to_string(address.port);
  const std::string text = address.address.text();
  const std::string host = address.address.isV4() ? text : "[" + text + "]";
  socket_.bind(std::string(kTcp) + host + ":" + port);
}

Status ZmqRouter::startThread() {
  auto inbox = RouterInbox::make();
  if (!inbox) return tl::unexpected(inbox.error());
  inbox_ = std::move(*inbox);
  poke_ = UniqueFd(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!poke_.valid()) return makeErrnoError("control", "no eventfd", errno);
  thread_ = std::thread([this] { run(); });
  return {};
}

void ZmqRouter::run() {
  pthread_setname_np(pthread_self(), "router");
  enum class Wake : std::uint8_t { kSocket, kPoke, kCount };
  PollSet<Wake> wakes;
  wakes.watch(Wake::kSocket, signal_);
  wakes.watch(Wake::kPoke, poke_.get());
  while (!stopping_.load()) {
    const Taken taken = takeIn();
    if (taken == Taken::kFailed) return;
    if (taken == Taken::kSome) continue;
    wakes.wait(kHour);
    eventfd_t count = 0;
    if (wakes.ready(Wake::kPoke)) ::eventfd_read(poke_.get(), &count);
  }
}

ZmqRouter::Taken ZmqRouter::takeIn() {
  const auto lock = lockSocket();
  return zmqValue(Taken::kFailed, [&] {
    for (int i = 0; i < kMessagesAtOnce; ++i) {
      auto message = takeMessage();
      if (!message) return Taken::kAll;
      inbox_->put(std::move(*message));
    }
    return Taken::kSome;
  });
}

// Throws zmq::error_t when the context has ended.
std::optional<ZmqRouter::Message> ZmqRouter::takeMessage() {
  constexpr auto kNow = zmq::recv_flags::dontwait;
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
}

std::unique_lock<std::mutex> ZmqRouter::lockSocket() {
  const std::lock_guard turn(turn_);
  return std::unique_lock(socket_mutex_);
}

bool ZmqRouter::send(const std::string& route, std::string_view bytes) {
  return sendMessage(route, zmq::message_t(bytes));
}

bool ZmqRouter::send(const std::string& route, std::shared_ptr<const std::string> bytes) {
  using Shared = std::shared_ptr<const std::string>;
  auto shared = std::make_unique<Shared>(std::move(bytes));
  const auto release = [](void*, void* hint) { delete static_cast<Shared*>(hint); };
  // ZeroMQ takes a pointer to mutable bytes and never writes to them.
  auto* data = const_cast<char*>((*shared)->data());
  zmq::message_t message(data, (*shared)->size(), release, shared.get());
  (void)shared.release();  // the message owns it now
  return sendMessage(route, std::move(message));
}

bool ZmqRouter::sendMessage(const std::string& route, zmq::message_t message) {
  constexpr auto kNow = zmq::send_flags::dontwait;
  const auto lock = lockSocket();
  return zmqValue(false, [&] {
    const bool sent = socket_.send(zmq::buffer(route), kNow | zmq::send_flags::sndmore) &&
                      socket_.send(message, kNow);
    // Sending takes notice of arrivals too, and then signal_ does not wake the thread for them.
    const bool waits = (socket_.get(zmq::sockopt::events) & ZMQ_POLLIN) != 0;
    if (waits) ::eventfd_write(poke_.get(), 1);
    return sent;
  });
}

}  // namespace pingloom::net
