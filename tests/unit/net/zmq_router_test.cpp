// Tests the ROUTER without a gate, with peers that write ZMTP's bytes themselves.
#include "net/zmq_router.h"

#include <gtest/gtest.h>
#include <sys/socket.h>

#include <chrono>
#include <functional>
#include <string>
#include <thread>

#include "common/fd.h"
#include "net/zmq_dealer.h"

namespace pingloom::net::zmq_router_test {
namespace {

bool until(const std::function<bool()>& condition) {
  for (int i = 0; i < 500; ++i) {
    if (condition()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return false;
}

constexpr char kMessage = 0;
constexpr char kCommand = 4;

std::string frame(char flags, const std::string& body) {
  return std::string(1, flags) + static_cast<char>(body.size()) + body;
}

std::string property(const std::string& name, const std::string& value) {
  return static_cast<char>(name.size()) + name + std::string(3, '\0') +
         static_cast<char>(value.size()) + value;
}

// What a DEALER says before its first message (ZMTP 3.0, NULL).
std::string greeting() {
  return "\xff" + std::string(8, '\0') + "\x7f" + std::string("\x03\x00NULL", 6) +
         std::string(16 + 1 + 31, '\0');
}
std::string ready() {
  return frame(kCommand,
               "\x05READY" + property("Socket-Type", "DEALER") + property("Identity", ""));
}

class Peer {
 public:
  explicit Peer(const SocketAddress& to) : fd_(::socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_storage address{};
    const socklen_t size = to.address.toSockaddr(to.port, address);
    EXPECT_EQ(::connect(fd_.get(), reinterpret_cast<sockaddr*>(&address), size), 0);
  }
  // Takes `size` bytes that the other side has sent.
  void take(std::size_t size) {
    std::string bytes(size, '\0');
    EXPECT_EQ(::recv(fd_.get(), bytes.data(), size, MSG_WAITALL), static_cast<ssize_t>(size));
  }
  void send(const std::string& bytes) {
    EXPECT_EQ(::send(fd_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL),
              static_cast<ssize_t>(bytes.size()));
  }
  // Ends the connection by a reset, which the other side notices while it is not reading.
  void reset() {
    const linger now = {1, 0};
    ::setsockopt(fd_.get(), SOL_SOCKET, SO_LINGER, &now, sizeof now);
    fd_.reset();
  }

 private:
  UniqueFd fd_;
};

class RouterTest : public testing::Test {
 protected:
  std::size_t receiveAll() {
    std::size_t received = 0;
    while (router_->receive()) ++received;
    return received;
  }

  std::unique_ptr<ZmqRouter> router_ =
      std::move(*ZmqRouter::bind({IpAddress::fromV4(0x7f000001), 0}));
};

// libzmq 4.3.4 aborts when it answers a PING on a connection that ended while the PING waited
// behind messages which the ROUTER had no room for.
TEST_F(RouterTest, SurvivesAPingBehindMessagesOfAConnectionThatEnds) {
  constexpr int kAttempts = 20;
  std::string flood;
  constexpr int kMessages = 60;  // more than ZeroMQ had room for, fewer than twice as many
  for (int i = 0; i < kMessages; ++i) flood += frame(kMessage, "x");
  flood += frame(kCommand, "\x04PING" + std::string(2, '\0'));
  for (int i = 0; i < kAttempts; ++i) {
    Peer peer(router_->address());
    peer.send(greeting());
    peer.take(64);
    peer.send(ready() + flood);
    peer.take(2);
    ASSERT_TRUE(until([&] { return router_->receive().has_value(); }));
    peer.reset();
    until([&] { return receiveAll() == 0; });
  }
  ZmqContext context;
  ZmqDealer dealer;
  ASSERT_TRUE(dealer.open(context, router_->address().text()));
  ASSERT_TRUE(until([&] { return dealer.connected(); }));
  ASSERT_TRUE(dealer.send("still here", ""));
  bool heard = false;
  EXPECT_TRUE(until([&] {
    while (auto message = router_->receive()) {
      heard |= message->frame != nullptr && message->frame->bytes() == "still here";
    }
    return heard;
  }));
}

TEST_F(RouterTest, DropsWhatAConnectionHasTooManyOf) {
  constexpr std::size_t kTooMany = 10;
  Peer peer(router_->address());
  peer.send(greeting());
  peer.take(64);
  std::string flood;
  for (std::size_t i = 0; i < RouterInbox::kMaxMessages + kTooMany; ++i) {
    flood += frame(kMessage, "x");
  }
  peer.send(ready() + flood);
  ASSERT_TRUE(until([&] { return router_->dropped() == kTooMany; }));
  EXPECT_EQ(receiveAll(), RouterInbox::kMaxMessages);
  peer.send(frame(kMessage, "y"));
  EXPECT_TRUE(until([&] { return receiveAll() == 1; }));
}

}  // namespace
}  // namespace pingloom::net::zmq_router_test
