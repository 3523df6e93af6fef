#include "net/router_inbox.h"

#include <sys/eventfd.h>

#include <cerrno>
#include <utility>

#include "net/zmq_calls.h"

namespace pingloom::net {
namespace {

std::size_t bytesOf(const RouterMessage& message) {
  return message.frame == nullptr ? 0 : message.frame->bytes().size();
}

}  // namespace

// Without a gate no message has a user, and asking for one would throw for each of them.
std::optional<CurveKey> ZmqFrame::key() {
  if (!guarded_) return std::nullopt;
  auto key = CurveKey::parse(zmqValue("", [&] { return message_.gets("User-Id"); }));
  return key ? std::optional(*key) : std::nullopt;
}

std::string_view ZmqFrame::peer() {
  return zmqValue("", [&] { return message_.gets("Peer-Address"); });
}

Result<std::unique_ptr<RouterInbox>> RouterInbox::make() {
  UniqueFd waiting(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!waiting.valid()) return makeErrnoError("control", "no eventfd", errno);
  return std::unique_ptr<RouterInbox>(new RouterInbox(std::move(waiting)));
}

void RouterInbox::put(RouterMessage message) {
  const std::lock_guard lock(mutex_);
  Held& held = held_[message.route];
  const std::size_t bytes = bytesOf(message);
  if (held.messages >= kMaxMessages || (held.messages > 0 && held.bytes + bytes > kMaxBytes)) {
    dropped_.fetch_add(1, std::memory_order_relaxed);
    return;
  }
  ++held.messages;
  held.bytes += bytes;
  messages_.push_back(std::move(message));
  if (messages_.size() == 1) ::eventfd_write(waiting_.get(), 1);
}

std::optional<RouterMessage> RouterInbox::take() {
  const std::lock_guard lock(mutex_);
  if (messages_.empty()) return std::nullopt;
  RouterMessage message = std::move(messages_.front());
  messages_.pop_front();
  const auto held = held_.find(message.route);
  held->second.bytes -= bytesOf(message);
  if (--held->second.messages == 0) held_.erase(held);
  if (messages_.empty()) {
    eventfd_t count = 0;
    ::eventfd_read(waiting_.get(), &count);
  }
  return message;
}

bool RouterInbox::empty() const {
  const std::lock_guard lock(mutex_);
  return messages_.empty();
}

}  // namespace pingloom::net
