#include "probe/tcp/listener.h"

#include <netinet/in.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include <cerrno>
#include <system_error>
#include <utility>

#include "common/duration.h"
#include "common/log.h"

namespace pingloom::probe::tcp {

Listener::Listener(UniqueFd socket, const EventLoop& loop, std::uint64_t key)
    : socket_(std::move(socket)), loop_(&loop), key_(key) {}

Result<Listener> Listener::open(const SocketAddress& address, const EventLoop& loop,
                                std::uint64_t key) {
  const std::string entity = "tcp " + address.text();
  const bool is_v4 = address.address.isV4();
  UniqueFd made(
      ::socket(is_v4 ? AF_INET : AF_INET6, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!made.valid()) return makeErrnoError(entity, "cannot open a socket", errno);
  const int one = 1;
  setsockopt(made.get(), SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
  if (!is_v4) setsockopt(made.get(), IPPROTO_IPV6, IPV6_V6ONLY, &one, sizeof one);
  sockaddr_storage storage{};
  const socklen_t size = address.address.toSockaddr(address.port, storage);
  if (bind(made.get(), reinterpret_cast<sockaddr*>(&storage), size) != 0) {
    return makeErrnoError(entity, "cannot bind", errno);
  }
  if (listen(made.get(), SOMAXCONN) != 0) return makeErrnoError(entity, "cannot listen", errno);
  if (auto watched = loop.watch(made.get(), EPOLLIN, key); !watched) {
    return tl::unexpected(watched.error());
  }
  return Listener(std::move(made), loop, key);
}

std::uint64_t Listener::acceptReady(Nanos now) {
  std::uint64_t accepted = 0;
  for (int i = 0; i < kAcceptsPerCall; ++i) {
    const UniqueFd connection(
        accept4(socket_.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
    if (connection.valid()) {
      ++accepted;
      warned_ = false;
      continue;
    }
    const int error_number = errno;
    if (error_number == EAGAIN) break;
    if (error_number == EMFILE || error_number == ENFILE || error_number == ENOBUFS ||
        error_number == ENOMEM || error_number == EINVAL || error_number == EBADF) {
      pause(now, error_number);
      break;
    }
    // Any other error concerns only this connection, which has left the queue.
  }
  return accepted;
}

void Listener::pause(Nanos now, int error_number) {
  if (!std::exchange(warned_, true)) {
    log::warning("tcp: cannot accept probes: {}; trying again every {}",
                 std::generic_category().message(error_number), formatDuration(kPause));
  }
  loop_->unwatch(socket_.get());
  resume_mono_ = now + kPause;
}

void Listener::resume(Nanos now) {
  if (now < resume_mono_) return;
  // If the loop cannot watch the socket again, the pause lasts longer.
  resume_mono_ = loop_->watch(socket_.get(), EPOLLIN, key_) ? kNever : now + kPause;
}

}  // namespace pingloom::probe::tcp
