#include "http/server.h"

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <exception>
#include <mutex>
#include <thread>
#include <utility>  // before Asio, which forgets it

#include "common/log.h"
#include "http/connection.h"

namespace pingloom::http {
namespace asio = boost::asio;
using boost::system::error_code;

// The event loop as task queues see it; it ends with the server.
struct TaskQueue::Loop {
  std::mutex mutex;
  asio::io_context* context = nullptr;
};

void TaskQueue::post(std::function<void()> task) const {
  const std::lock_guard lock(loop_->mutex);
  if (loop_->context != nullptr) asio::post(*loop_->context, std::move(task));
}

void TaskQueue::postAfter(Nanos delay, std::function<void()> task) const {
  const std::lock_guard lock(loop_->mutex);
  if (loop_->context == nullptr) return;
  auto timer = std::make_shared<asio::steady_timer>(*loop_->context);
  timer->expires_after(std::chrono::nanoseconds(delay));
  timer->async_wait([timer, task = std::move(task)](error_code error) {
    if (!error) task();
  });
}

namespace {

// The cost of a TLS handshake, in requests that take as long.
constexpr double kHandshakeCost = 10;
constexpr std::string_view kTooMany =
    "HTTP/1.1 503 Service Unavailable\r\nContent-Type: application/json\r\n"
    "Content-Length: 48\r\nConnection: close\r\nRetry-After: 5\r\n\r\n"
    R"({"error":{"reason":"too many open connections"}})";

Result<asio::ip::tcp::acceptor> listenOn(asio::io_context& context, const SocketAddress& address) {
  sockaddr_storage storage{};
  const socklen_t length = address.address.toSockaddr(address.port, storage);
  asio::ip::tcp::endpoint endpoint;
  endpoint.resize(length);
  std::memcpy(endpoint.data(), &storage, length);

  asio::ip::tcp::acceptor acceptor(context);
  error_code error;
  acceptor.open(endpoint.protocol(), error);
  if (!error) acceptor.set_option(asio::socket_base::reuse_address(true), error);
  if (!error) acceptor.bind(endpoint, error);
  if (!error) acceptor.listen(asio::socket_base::max_listen_connections, error);
  if (error) return makeError("http " + address.text(), "cannot listen: " + error.message());
  return acceptor;
}

}  // namespace

struct Server::Impl {
  asio::io_context context{1};
  std::shared_ptr<TaskQueue::Loop> loop = std::make_shared<TaskQueue::Loop>();
  std::shared_ptr<Service> service;
  asio::ip::tcp::acceptor acceptor{context};
  asio::steady_timer accept_again{context};
  bool accept_failing = false;
  bool accepting = false;  // or waiting to retry
  SocketAddress address;
  std::thread thread;

  // Runs until the server stops. Anything may throw when memory is short; that ends the connection
  // concerned, not the process.
  void run() {
    while (!context.stopped()) {
      try {
        if (!accepting) acceptNext();
        context.run();
      } catch (const std::exception& failure) {
        failed(failure);
      }
    }
  }

  void failed(const std::exception& failure) {
    try {
      log::error("http {}: {}", address.text(), failure.what());
    } catch (const std::exception&) {
      // There is no memory for a line in the log.
    }
    if (!accepting) std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }

  void acceptNext() {
    acceptor.async_accept([this](error_code error, asio::ip::tcp::socket socket) {
      accepting = false;
      if (error == asio::error::operation_aborted) return;
      if (error && error != asio::error::connection_aborted) return backOff(error);
      accept_failing = false;
      if (!error) accepted(std::move(socket));
      acceptNext();
    });
    accepting = true;
  }

  // The process is most likely out of descriptors; after a pause some connections may have ended.
  void backOff(error_code error) {
    if (!std::exchange(accept_failing, true)) {
      log::warning("http {}: cannot accept: {}", address.text(), error.message());
    }
    accept_again.expires_after(std::chrono::milliseconds(100));
    accept_again.async_wait([this](error_code stopped) {
      accepting = false;
      if (!stopped) acceptNext();
    });
    accepting = true;
  }

  void accepted(asio::ip::tcp::socket socket) {
    ServerCounters& counters = *service->options.counters;
    ++counters.connections_accepted;
    error_code ignored;
    const auto remote = socket.remote_endpoint(ignored);
    const IpAddress peer = SocketAddress::fromSockaddr(remote.data()).address;
    if (!service->hasPlaceFor(peer)) return counters.refuse(Refusal::kConnections);
    const auto tls = service->options.access == nullptr ? nullptr : service->options.access->tls();
    if (!service->takeRequest(peer, tls == nullptr ? 1 : kHandshakeCost)) return;
    if (counters.connections_open >= service->options.limits.connections) {
      ++counters.connections_refused;
      if (tls != nullptr) return;
      socket.non_blocking(true, ignored);
      socket.write_some(asio::buffer(kTooMany), ignored);
      return;
    }
    socket.set_option(asio::ip::tcp::no_delay(true), ignored);
    auto slot = std::make_unique<ConnectionSlot>(service, peer);
    if (tls == nullptr) return serveConnection(std::move(socket), service, std::move(slot));
    serveEncrypted(std::move(socket), service, std::move(slot), tls);
  }
};

Server::Server(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

Result<std::unique_ptr<Server>> Server::start(const ServerOptions& options, Handler handler,
                                              WebSockets websockets) {
  auto impl = std::make_unique<Impl>();
  auto acceptor = listenOn(impl->context, options.listen);
  if (!acceptor) return tl::unexpected(acceptor.error());
  impl->acceptor = std::move(*acceptor);
  error_code error;
  const auto bound = impl->acceptor.local_endpoint(error);
  if (error) return makeError("http " + options.listen.text(), error.message());
  impl->address = SocketAddress::fromSockaddr(bound.data());

  impl->service = std::make_shared<Service>(options, std::move(handler), std::move(websockets));
  impl->loop->context = &impl->context;
  impl->acceptNext();
  impl->thread = std::thread([running = impl.get()] { running->run(); });
  return std::unique_ptr<Server>(new Server(std::move(impl)));
}

Server::~Server() {
  {
    const std::lock_guard lock(impl_->loop->mutex);
    impl_->loop->context = nullptr;
  }
  impl_->context.stop();
  impl_->thread.join();
}

SocketAddress Server::address() const { return impl_->address; }
TaskQueue Server::tasks() const { return TaskQueue(impl_->loop); }

}  // namespace pingloom::http
