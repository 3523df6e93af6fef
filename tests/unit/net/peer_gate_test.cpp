// Tests a ROUTER with a gate with real ZeroMQ sockets.
#include "net/peer_gate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>

#include <chrono>
#include <functional>
#include <string>
#include <thread>

#include "common/fd.h"
#include "net/zmq_dealer.h"
#include "net/zmq_router.h"
#include "unit/eventually.h"

namespace pingloom::net::peer_gate_test {
namespace {

using test::eventually;

class GateTest : public testing::Test {
 protected:
  GateTest() {
    RouterOptions options;
    options.gate = gate_;
    router_ = std::move(*ZmqRouter::bind({IpAddress::fromV4(0x7f000001), 0}, options));
  }

  DealerOptions as(const CurvePair& own) const {
    DealerOptions options;
    options.curve = DealerOptions::Curve{own, server_.public_key};
    options.watch_handshakes = true;
    return options;
  }
  void connect(ZmqDealer& dealer, const DealerOptions& options) {
    ASSERT_TRUE(dealer.open(context_, router_->address().text(), options));
  }
  std::optional<ZmqRouter::Message> receive() {
    std::optional<ZmqRouter::Message> message;
    eventually([&] { return (message = router_->receive()).has_value(); });
    return message;
  }
  std::uint64_t refused(PeerRefusal reason) const {
    return gate_->refusals()[static_cast<std::size_t>(reason)];
  }
  HandshakeFault faultOf(ZmqDealer& dealer) {
    HandshakeFault fault = HandshakeFault::kNone;
    eventually([&] { return (fault = dealer.takeHandshakeFault()) != HandshakeFault::kNone; });
    return fault;
  }

  const CurvePair server_ = CurvePair::generate();
  const CurvePair known_ = CurvePair::generate();
  const CurvePair stranger_ = CurvePair::generate();
  const std::shared_ptr<PeerGate> gate_ = std::make_shared<PeerGate>(server_, "test");
  std::unique_ptr<ZmqRouter> router_;
  ZmqContext context_{64};
};

TEST_F(GateTest, LetsTheKnownInAndSaysWhoTheyAre) {
  gate_->allow({{known_.public_key, std::nullopt}});
  ZmqDealer dealer;
  connect(dealer, as(known_));
  ASSERT_TRUE(eventually([&] { return dealer.connected(); }));
  ASSERT_TRUE(dealer.send("hello", ""));
  const auto message = receive();
  ASSERT_TRUE(message && message->frame);
  EXPECT_EQ(message->frame->bytes(), "hello");
  EXPECT_EQ(message->frame->key(), known_.public_key);
  EXPECT_EQ(message->frame->peer(), "127.0.0.1");
  ASSERT_TRUE(router_->send(message->route, "back"));
  std::string back;
  ASSERT_TRUE(eventually([&] { return dealer.receive(back) == ZmqDealer::Received::kMessage; }));
  EXPECT_EQ(back, "back");
  EXPECT_EQ(dealer.takeHandshakeFault(), HandshakeFault::kNone);
}

TEST_F(GateTest, KeepsStrangersAndOtherRolesOutBeforeTheyCanSpeak) {
  gate_->allow({{known_.public_key, PeerRefusal::kWrongRole}});
  ZmqDealer other_role;
  connect(other_role, as(known_));
  EXPECT_EQ(faultOf(other_role), HandshakeFault::kKeyRefused);
  EXPECT_GE(refused(PeerRefusal::kWrongRole), 1U);
  ZmqDealer stranger;
  connect(stranger, as(stranger_));
  EXPECT_EQ(faultOf(stranger), HandshakeFault::kKeyRefused);
  EXPECT_GE(refused(PeerRefusal::kUnknownKey), 1U);
  EXPECT_FALSE(stranger.connected());
  EXPECT_FALSE(stranger.send("hello", ""));
  EXPECT_FALSE(router_->receive());
}

TEST_F(GateTest, TellsRevokedKeysFromUnknownOnes) {
  gate_->allow({{known_.public_key, std::nullopt}});
  gate_->allow({});
  ZmqDealer dealer;
  connect(dealer, as(known_));
  EXPECT_EQ(faultOf(dealer), HandshakeFault::kKeyRefused);
  EXPECT_GE(refused(PeerRefusal::kRevoked), 1U);
  EXPECT_EQ(refused(PeerRefusal::kUnknownKey), 0U);
  gate_->allow({{known_.public_key, std::nullopt}});
  connect(dealer, as(known_));  // libzmq gives up a socket whose key is refused
  EXPECT_TRUE(eventually([&] { return dealer.connected(); }));
}

TEST_F(GateTest, RefusesPlaintext) {
  gate_->allow({{known_.public_key, std::nullopt}});
  ZmqDealer dealer;
  DealerOptions plain;
  plain.watch_handshakes = true;
  connect(dealer, plain);
  EXPECT_EQ(faultOf(dealer), HandshakeFault::kBroken);
  // Both sides notice it, and either may hang up first.
  EXPECT_TRUE(eventually(
      [&] { return refused(PeerRefusal::kNoCurve) + refused(PeerRefusal::kHungUp) >= 1; }));
  EXPECT_FALSE(dealer.send("hello", ""));
  EXPECT_FALSE(router_->receive());
}

// A second listener, where keys are being introduced.
TEST_F(GateTest, LetsPlaintextInWhereThatIsConfiguredAndNowhereElse) {
  gate_->allow({{known_.public_key, std::nullopt}});
  const SocketAddress plaintext{IpAddress::fromV4(0x7f000002), router_->address().port};
  RouterOptions options;
  options.gate = gate_;
  options.plaintext = plaintext;
  router_ = std::move(*ZmqRouter::bind({IpAddress::fromV4(0x7f000001), 0}, options));
  ZmqDealer plain;
  ASSERT_TRUE(plain.open(context_, plaintext.text()));
  ASSERT_TRUE(eventually([&] { return plain.connected(); }));
  ASSERT_TRUE(plain.send("hello", ""));
  const auto message = receive();
  ASSERT_TRUE(message && message->frame);
  EXPECT_EQ(message->frame->key(), std::nullopt);
  ASSERT_TRUE(router_->send(message->route, "back"));
  ZmqDealer keyed;
  connect(keyed, as(known_));
  ASSERT_TRUE(eventually([&] { return keyed.connected(); }));
  ASSERT_TRUE(keyed.send("hello", ""));
  const auto second = receive();
  ASSERT_TRUE(second && second->frame);
  EXPECT_EQ(second->frame->key(), known_.public_key);
  ZmqDealer stranger;
  connect(stranger, as(stranger_));
  EXPECT_EQ(faultOf(stranger), HandshakeFault::kKeyRefused);
  ZmqDealer elsewhere;
  DealerOptions without_key;
  without_key.watch_handshakes = true;
  connect(elsewhere, without_key);
  EXPECT_EQ(faultOf(elsewhere), HandshakeFault::kBroken);
  EXPECT_FALSE(router_->receive());
}

TEST_F(GateTest, RefusesThoseWhoLookForAnotherServer) {
  gate_->allow({{known_.public_key, std::nullopt}});
  ZmqDealer dealer;
  DealerOptions options = as(known_);
  options.curve->server = stranger_.public_key;
  connect(dealer, options);
  EXPECT_EQ(faultOf(dealer), HandshakeFault::kBroken);
  EXPECT_TRUE(eventually([&] { return refused(PeerRefusal::kWrongServerKey) >= 1; }));
  EXPECT_FALSE(router_->receive());
}

// A client with CURVE does not talk to a server without it.
TEST_F(GateTest, AClientWithKeysRefusesAPlainServer) {
  const auto plain = ZmqRouter::bind({IpAddress::fromV4(0x7f000001), 0});
  ASSERT_TRUE(plain);
  ZmqDealer dealer;
  ASSERT_TRUE(dealer.open(context_, (*plain)->address().text(), as(known_)));
  EXPECT_EQ(faultOf(dealer), HandshakeFault::kBroken);
  EXPECT_FALSE(dealer.send("hello", ""));
}

class RawConnection {
 public:
  explicit RawConnection(const SocketAddress& to) : fd_(::socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_storage address{};
    const socklen_t size = to.address.toSockaddr(to.port, address);
    connected_ = ::connect(fd_.get(), reinterpret_cast<sockaddr*>(&address), size) == 0;
  }
  bool send(const std::string& bytes) {
    return connected_ && ::send(fd_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL) ==
                             static_cast<ssize_t>(bytes.size());
  }

 private:
  UniqueFd fd_;
  bool connected_ = false;
};

std::string curveGreeting() {
  std::string greeting = "\xff" + std::string(8, '\0') + "\x7f" + std::string("\x03\x00", 2);
  greeting += "CURVE" + std::string(15, '\0') + std::string(1, '\0') + std::string(31, '\0');
  return greeting;
}

// Bytes that are no handshake are refused and counted, and do not disturb the other peers.
TEST_F(GateTest, LivesThroughMalformedHandshakes) {
  gate_->allow({{known_.public_key, std::nullopt}});
  const std::string hello = "\x04" + std::string(1, static_cast<char>(200)) + "\x05HELLO";
  const std::string wrong_command = std::string("\x04\x0a\x05OTHERabcd", 12);
  std::uint64_t before = 0;
  for (const std::string& bytes :
       {curveGreeting() + wrong_command, curveGreeting() + hello + std::string(194, 'x'),
        curveGreeting() + std::string("\x04\x06\x05HELLO", 8)}) {
    RawConnection raw(router_->address());
    ASSERT_TRUE(raw.send(bytes));
    ASSERT_TRUE(eventually([&] {
      return refused(PeerRefusal::kMalformed) + refused(PeerRefusal::kWrongServerKey) > before;
    })) << before;
    before = refused(PeerRefusal::kMalformed) + refused(PeerRefusal::kWrongServerKey);
  }
  for (const std::string& bytes :
       {std::string("GET / HTTP/1.0\r\n\r\n"), std::string(300, '\xff'), std::string(300, '\0')}) {
    RawConnection raw(router_->address());
    ASSERT_TRUE(raw.send(bytes));
  }
  ZmqDealer dealer;
  connect(dealer, as(known_));
  EXPECT_TRUE(eventually([&] { return dealer.connected(); }));
  EXPECT_FALSE(router_->receive());
}

TEST(PeerGate, LogsEachAddressOnceAMinuteAndCountsAll) {
  PeerGate gate(CurvePair::generate(), "test");
  testing::internal::CaptureStderr();
  for (int i = 0; i < 100; ++i) {
    gate.refuse(PeerRefusal::kUnknownKey, "10.0.0.1", "", kSecond + i);
    gate.refuse(PeerRefusal::kNoCurve, "10.0.0.2", "", kSecond + i);
  }
  gate.refuse(PeerRefusal::kUnknownKey, "10.0.0.1", "", kSecond + kMinute);
  for (int i = 0; i < 5000; ++i) {
    gate.refuse(PeerRefusal::kNoCurve, "10.1.0." + std::to_string(i), "", kSecond + kMinute);
  }
  const std::string log = testing::internal::GetCapturedStderr();
  EXPECT_LE(std::count(log.begin(), log.end(), '\n'),
            static_cast<std::ptrdiff_t>(PeerGate::kMaxQuieted) + 3);
  EXPECT_EQ(gate.refusals()[0], 101U);
  EXPECT_EQ(gate.refusals()[3], 5100U);
}

}  // namespace
}  // namespace pingloom::net::peer_gate_test
