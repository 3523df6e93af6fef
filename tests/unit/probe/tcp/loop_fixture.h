// What the tests of TCP probes have in common: servers and an event loop that the test drives.
#pragma once

#include <gtest/gtest.h>
#include <sys/socket.h>

#include <functional>
#include <memory>
#include <utility>

#include "common/address.h"
#include "common/fd.h"
#include "common/time.h"
#include "plan/plan.h"
#include "probe/event_loop.h"

namespace pingloom::probe::tcp::fixture {

inline IpAddress host(std::uint32_t number) { return IpAddress::fromV4(0x7f4e0a00 + number); }

// A listening socket. With `backlog` 0 and one connect that is not accepted, it drops further SYNs.
class Server {
 public:
  explicit Server(const IpAddress& address, int backlog = 64)
      : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)) {
    sockaddr_storage storage{};
    socklen_t size = address.toSockaddr(0, storage);
    EXPECT_EQ(bind(socket_.get(), reinterpret_cast<sockaddr*>(&storage), size), 0);
    EXPECT_EQ(listen(socket_.get(), backlog), 0);
    getsockname(socket_.get(), reinterpret_cast<sockaddr*>(&storage), &size);
    address_ = SocketAddress::fromSockaddr(reinterpret_cast<sockaddr*>(&storage));
  }
  // Fills the backlog.
  void block() {
    blocker_.reset(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_storage storage{};
    const socklen_t size = address_.address.toSockaddr(address_.port, storage);
    EXPECT_EQ(connect(blocker_.get(), reinterpret_cast<sockaddr*>(&storage), size), 0);
  }
  void unblock() { UniqueFd(accept(socket_.get(), nullptr, nullptr)); }
  std::uint16_t port() const { return address_.port; }

 private:
  UniqueFd socket_;
  UniqueFd blocker_;
  SocketAddress address_;
};

inline std::shared_ptr<plan::Assignment> assignmentOf(const char* name, std::uint16_t port,
                                                      const plan::AddressList& destinations) {
  auto made = std::make_shared<plan::Assignment>();
  made->probe.name = name;
  made->probe.protocol = Protocol::kTcp;
  made->probe.port = port;
  made->probe.interval = kHour;  // one ping to each in a test
  made->probe.window = kHour;
  made->probe.timeout = 200 * kMillisecond;
  made->source = host(200);
  made->destinations = destinations;
  return made;
}

// An event loop that the test drives. It waits until a descriptor is ready or the time is over.
class Rounds : private LoopHandler {
 public:
  Rounds() { EXPECT_TRUE(loop.open()); }
  // Returns how many descriptors became ready within `timeout_ms`, and passes each to `on_ready`.
  int wait(int timeout_ms, std::function<void(std::uint64_t)> on_ready) {
    on_ready_ = std::move(on_ready);
    until_ = monotonicNow() + timeout_ms * kMillisecond;
    ready_ = 0;
    do {
      loop.round();
    } while (ready_ == 0 && monotonicNow() < until_);
    return ready_;
  }
  // Does the same, but handles nothing, so that the descriptors stay ready.
  int await(int timeout_ms) {
    return wait(timeout_ms, [](std::uint64_t) {});
  }
  EventLoop loop{"test", *this};

 private:
  void wokeUp(const Instant& /*now*/) override {}
  void ready(std::uint64_t key, std::uint32_t /*events*/, const Instant& /*now*/) override {
    ++ready_;
    on_ready_(key);
  }
  void elapse(const Instant& /*now*/) override {}
  Nanos nextWake() override { return until_; }

  std::function<void(std::uint64_t)> on_ready_;
  Nanos until_ = 0;
  int ready_ = 0;
};

}  // namespace pingloom::probe::tcp::fixture
