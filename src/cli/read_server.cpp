#include "cli/read_server.h"

#include <fmt/format.h>
#include <linux/sockios.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <iostream>
#include <span>

#include "cli/read_client.h"
#include "cli/read_pattern.h"
#include "common/random.h"
#include "rdma/control_peer.h"

namespace pingloom::cli {
namespace {

// A reader whose host died without a word is noticed after about half a minute.
void keepAlive(int socket) {
  const auto set = [&](int level, int option, int value) {
    setsockopt(socket, level, option, &value, sizeof value);
  };
  set(SOL_SOCKET, SO_KEEPALIVE, 1);
  set(IPPROTO_TCP, TCP_KEEPIDLE, 10);
  set(IPPROTO_TCP, TCP_KEEPINTVL, 5);
  set(IPPROTO_TCP, TCP_KEEPCNT, 4);
}

// The few bytes fit into a new connection's buffer; if they do not, they are dropped.
bool sendAnswer(int socket, const wire::ReadExchange& answer) {
  const auto bytes = wire::bytesOf(answer);
  return send(socket, bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT) ==
         static_cast<ssize_t>(bytes.size());
}

// Tells whether the peer's TCP has acknowledged everything that was sent to it. Nobody can do that
// without receiving at that address, because the numbers to acknowledge are random.
bool isAcknowledged(int socket) {
  int waiting = 0;
  return ioctl(socket, SIOCOUTQ, &waiting) == 0 && waiting == 0;
}

void refuse(int socket, wire::ReadExchangeStatus status, const std::string& text) {
  wire::ReadExchange answer;
  answer.type = wire::ReadExchangeType::kAnswer;
  answer.status = status;
  answer.text = text;
  sendAnswer(socket, answer);
}

}  // namespace

Result<std::unique_ptr<ReadServer>> ReadServer::create(const ServeOptions& options) {
  std::unique_ptr<ReadServer> made(new ReadServer(options));
  auto device = rdma::openDevice(options.listen.address, options.device);
  if (!device) return tl::unexpected(device.error());
  made->device_ = std::move(*device);
  auto domain = made->device_->createDomain();
  if (!domain) return tl::unexpected(domain.error());
  made->domain_ = std::move(*domain);
  made->memory_.resize(options.bytes);
  made->seed_ = randomU64() | 1;  // never 0
  fillWithPattern(made->memory_, made->seed_);
  auto region = made->domain_->registerMemory(made->memory_, rdma::Access::kRead);
  if (!region) return tl::unexpected(region.error());
  made->region_ = std::move(*region);
  if (auto listening = made->listen(); !listening) return tl::unexpected(listening.error());
  return made;
}

Status ReadServer::listen() {
  const SocketAddress& own = options_.listen;
  listener_ = UniqueFd(::socket(own.address.isV4() ? AF_INET : AF_INET6,
                                SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  const int on = 1;
  setsockopt(listener_.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  sockaddr_storage address{};
  socklen_t size = own.address.toSockaddr(own.port, address);
  auto* raw = reinterpret_cast<sockaddr*>(&address);
  if (!listener_.valid() || bind(listener_.get(), raw, size) != 0 ||
      ::listen(listener_.get(), SOMAXCONN) != 0) {
    return makeErrnoError(own.text(), "cannot listen", errno);
  }
  size = sizeof address;
  getsockname(listener_.get(), raw, &size);
  port_ = SocketAddress::fromSockaddr(raw).port;
  return {};
}

std::size_t ReadServer::serving() const {
  return static_cast<std::size_t>(std::count_if(
      readers_.begin(), readers_.end(), [](const auto& one) { return one->endpoint != nullptr; }));
}

void ReadServer::accept() {
  for (;;) {
    sockaddr_storage address{};
    socklen_t size = sizeof address;
    auto* raw = reinterpret_cast<sockaddr*>(&address);
    UniqueFd socket(accept4(listener_.get(), raw, &size, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (!socket.valid()) return;  // no connection is waiting, or it was closed again
    if (readers_.size() - serving() >= kWaiting) {
      ++refused_;
      continue;
    }
    keepAlive(socket.get());
    auto reader = std::make_unique<Reader>();
    reader->socket = std::move(socket);
    reader->from = SocketAddress::fromSockaddr(raw);
    reader->since = monotonicNow();
    readers_.push_back(std::move(reader));
  }
}

bool ReadServer::hear(Reader& reader) {
  std::uint8_t surplus = 0;
  std::span<std::uint8_t> room(&surplus, 1);  // an answered reader must not send anything more
  if (reader.endpoint == nullptr) room = std::span(reader.bytes).subspan(reader.have);
  const ssize_t got = recv(reader.socket.get(), room.data(), room.size(), 0);
  if (got < 0) return errno == EAGAIN || errno == EINTR;
  if (got == 0 || reader.endpoint != nullptr) return false;
  reader.have += static_cast<std::size_t>(got);
  return reader.have < reader.bytes.size() || answer(reader);
}

bool ReadServer::answer(Reader& reader) {
  const int socket = reader.socket.get();
  wire::ReadExchange request;
  const auto parsed = wire::parse(reader.bytes, request);
  if (parsed == wire::ReadExchangeParse::kVersion) {
    refuse(socket, wire::ReadExchangeStatus::kVersion, "");
    return false;
  }
  if (parsed == wire::ReadExchangeParse::kNone ||
      request.type != wire::ReadExchangeType::kRequest) {
    return false;
  }
  if (request.text != options_.region) {
    refuse(socket, wire::ReadExchangeStatus::kNoRegion, options_.region);
    return false;
  }
  if (serving() >= kReaders) {
    refuse(socket, wire::ReadExchangeStatus::kFull, "");
    return false;
  }
  auto made = connect(reader, addressOf(request));
  if (!made) {
    refuse(socket, wire::ReadExchangeStatus::kDevice, made.error().reason);
    return false;
  }
  wire::ReadExchange answer = exchangeOf((*made)->address());
  answer.type = wire::ReadExchangeType::kAnswer;
  answer.address = region_->address();
  answer.length = memory_.size();
  answer.pattern = seed_;
  answer.rkey = region_->rkey();
  answer.text = device_->info().name;
  if (!sendAnswer(socket, answer)) return false;
  reader.endpoint = std::move(*made);
  ++served_;
  std::cout << fmt::format("{} reads '{}'\n", reader.from.text(), options_.region) << std::flush;
  return true;
}

Result<std::unique_ptr<rdma::RcEndpoint>> ReadServer::connect(const Reader& reader,
                                                              const rdma::RcAddress& peer) {
  const Status own = rdma::checkControlPeer(device_->info(), peer, reader.from.address);
  if (!own) return tl::unexpected(own.error());
  rdma::RcOptions options;
  options.access = rdma::Access::kRead;
  options.depth = 1;  // this side posts no READs
  options.unproved = true;
  auto made = domain_->createRc(options);
  if (!made) return made;
  if (auto connected = (*made)->connect(peer); !connected) return tl::unexpected(connected.error());
  return made;
}

bool ReadServer::poll(Reader& reader) {
  if (reader.endpoint == nullptr) return monotonicNow() - reader.since < kPatience;
  if (!reader.proved && isAcknowledged(reader.socket.get())) {
    reader.proved = true;
    reader.endpoint->peerProved();
  }
  rdma::RcEvents events;
  const Status polled = reader.endpoint->poll(events);
  if (!polled) {
    std::cout << fmt::format("{}: {}\n", reader.from.text(), polled.error().text()) << std::flush;
  }
  return static_cast<bool>(polled);
}

void ReadServer::drop(Reader& reader) {
  if (reader.endpoint == nullptr) {
    ++refused_;
  } else {
    std::cout << fmt::format("{} has gone\n", reader.from.text()) << std::flush;
  }
}

int ReadServer::waitMillis() const {
  const Nanos now = monotonicNow();
  Nanos wake = now + kSecond;
  for (const auto& reader : readers_) {
    if (reader->endpoint == nullptr) {
      wake = std::min(wake, reader->since + kPatience);
      continue;
    }
    wake = std::min(wake, reader->endpoint->nextWake());
    // Nothing reports that the peer's TCP has acknowledged the answer.
    if (!reader->proved) wake = std::min(wake, now + kMillisecond);
  }
  return wake <= now ? 0 : static_cast<int>((wake - now) / kMillisecond) + 1;
}

void ReadServer::run(int stop) {
  enum : std::size_t { kStop, kListener };  // the first entries; those of the readers follow
  std::vector<pollfd> ready;
  for (;;) {
    ready.assign({{stop, POLLIN, 0}, {listener_.get(), POLLIN, 0}});
    for (const auto& reader : readers_) {
      ready.push_back({reader->socket.get(), POLLIN, 0});
      if (reader->endpoint != nullptr) ready.push_back({reader->endpoint->descriptor(), POLLIN, 0});
    }
    ::poll(ready.data(), ready.size(), waitMillis());
    if (ready[kStop].revents != 0) return;
    std::erase_if(readers_, [&](const std::unique_ptr<Reader>& reader) {
      const bool stays = hear(*reader) && poll(*reader);
      if (!stays) drop(*reader);
      return !stays;
    });
    if (ready[kListener].revents != 0) accept();
  }
}

}  // namespace pingloom::cli
