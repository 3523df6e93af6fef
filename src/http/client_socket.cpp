#include "http/client_socket.h"

#include <netdb.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <memory>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>

namespace pingloom::http {
namespace {

constexpr Nanos kCancelCheck = 100 * kMillisecond;

// Waits for `events` until the deadline. Returns the reason where that fails, else "".
std::string waitFor(int socket, short events, Deadline deadline) {
  for (;;) {
    Nanos left = deadline.mono - monotonicNow();
    if (left <= 0 || deadline.over()) return "timed out";
    if (deadline.cancelled != nullptr) left = std::min(left, kCancelCheck);
    pollfd waiting{socket, events, 0};
    const int milliseconds = static_cast<int>(left / kMillisecond) + 1;
    const int ready = ::poll(&waiting, 1, milliseconds);
    if (ready > 0) return "";
    if (ready < 0 && errno != EINTR) return std::strerror(errno);
  }
}

// Returns a valid descriptor and an empty reason, or no descriptor and the reason.
std::string connectOne(const addrinfo& address, Deadline deadline, UniqueFd& out) {
  UniqueFd socket(
      ::socket(address.ai_family, address.ai_socktype | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!socket.valid()) return std::strerror(errno);
  if (::connect(socket.get(), address.ai_addr, address.ai_addrlen) != 0) {
    if (errno != EINPROGRESS) return std::strerror(errno);
    std::string reason = waitFor(socket.get(), POLLOUT, deadline);
    if (!reason.empty()) return reason;
    int error = 0;
    socklen_t length = sizeof error;
    ::getsockopt(socket.get(), SOL_SOCKET, SO_ERROR, &error, &length);
    if (error != 0) return std::strerror(error);
  }
  out = std::move(socket);
  return "";
}

using Addresses = std::unique_ptr<addrinfo, decltype(&freeaddrinfo)>;

// Returns the host's addresses, or none and the reason.
Addresses resolve(const Url& url, int flags, std::string& reason) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = flags;
  addrinfo* found = nullptr;
  const int failed = ::getaddrinfo(url.host.c_str(), url.port.c_str(), &hints, &found);
  if (failed != 0) {
    reason = "cannot resolve: " + std::string(gai_strerror(failed));
    found = nullptr;
  }
  return {found, &freeaddrinfo};
}

// A question to the resolver, which cannot be cancelled. Its thread and the one that asks share it.
struct Question {
  explicit Question(Url asked) : url(std::move(asked)) {}
  void ask() {
    std::string failure;
    auto addresses = resolve(url, 0, failure);
    const std::lock_guard lock(mutex);
    found = std::move(addresses);
    reason = std::move(failure);
    done = true;
    wake.notify_one();
  }

  const Url url;
  std::mutex mutex;
  std::condition_variable wake;
  bool done = false;
  std::string reason;
  Addresses found{nullptr, &freeaddrinfo};
};

// Asks on another thread, which is left behind if the deadline is over first. It ends when the
// resolver gives up.
Addresses resolveUntil(const Url& url, Deadline deadline, std::string& reason) {
  if (auto numeric = resolve(url, AI_NUMERICHOST, reason)) return numeric;
  const auto question = std::make_shared<Question>(url);
  try {
    std::thread([question] { question->ask(); }).detach();
  } catch (const std::system_error& error) {
    reason = "cannot resolve: no thread: " + error.code().message();
    return {nullptr, &freeaddrinfo};
  }
  std::unique_lock lock(question->mutex);
  while (!question->done && !deadline.over()) {
    const Nanos left = std::min(deadline.mono - monotonicNow(), kCancelCheck);
    question->wake.wait_for(lock, std::chrono::nanoseconds(std::max(left, Nanos{1})));
  }
  reason = question->done ? question->reason : "cannot resolve: timed out";
  return std::move(question->found);
}

}  // namespace

Nanos deadlineOfNext(std::size_t addresses_left, Nanos now_mono, Nanos deadline_mono) {
  if (deadline_mono <= now_mono) return deadline_mono;
  return now_mono + (deadline_mono - now_mono) / static_cast<Nanos>(addresses_left);
}

Result<UniqueFd> connectTo(const Url& url, const std::string& entity, Deadline deadline) {
  std::string reason;
  const Addresses found =
      deadline.cancelled == nullptr ? resolve(url, 0, reason) : resolveUntil(url, deadline, reason);
  if (found == nullptr) return makeError(entity, reason);
  std::size_t left = 0;
  for (const addrinfo* address = found.get(); address != nullptr; address = address->ai_next)
    ++left;
  for (const addrinfo* address = found.get(); address != nullptr; address = address->ai_next) {
    UniqueFd socket;
    const Nanos until = deadlineOfNext(left--, monotonicNow(), deadline.mono);
    reason = connectOne(*address, {until, deadline.cancelled}, socket);
    if (reason.empty()) return socket;
  }
  return makeError(entity, "cannot connect: " + reason);
}

Status sendAll(int socket, std::string_view data, const std::string& entity, Deadline deadline) {
  while (!data.empty()) {
    const ssize_t sent = ::send(socket, data.data(), data.size(), MSG_NOSIGNAL);
    if (sent >= 0) {
      data.remove_prefix(static_cast<std::size_t>(sent));
    } else if (errno == EAGAIN) {
      const std::string reason = waitFor(socket, POLLOUT, deadline);
      if (!reason.empty()) return makeError(entity, reason);
    } else if (errno != EINTR) {
      return makeErrnoError(entity, "cannot send", errno);
    }
  }
  return {};
}

Result<std::size_t> receiveSome(int socket, std::string& out, const std::string& entity,
                                Deadline deadline) {
  std::array<char, 65536> piece;
  for (;;) {
    // A peer that keeps sending does not extend the deadline.
    if (deadline.over()) return makeError(entity, "timed out");
    const ssize_t got = ::recv(socket, piece.data(), piece.size(), 0);
    if (got >= 0) {
      out.append(piece.data(), static_cast<std::size_t>(got));
      return static_cast<std::size_t>(got);
    }
    if (errno == EAGAIN) {
      const std::string reason = waitFor(socket, POLLIN, deadline);
      if (!reason.empty()) return makeError(entity, reason);
    } else if (errno != EINTR) {
      return makeErrnoError(entity, "cannot receive", errno);
    }
  }
}

}  // namespace pingloom::http
