#include "rdma/soft/trace_sockets.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "net/udp_socket.h"
#include "rdma/soft/expired.h"
#include "rdma/soft/packet.h"
#include "soft_host.h"

namespace pingloom::rdma::soft::trace_sockets_test {
namespace {

constexpr std::uint32_t kQpn = 0x1234;
constexpr std::uint16_t kPort = 0xC123;
const std::vector<std::uint8_t> kPayload = {1, 2, 3, 4};

// The payload outlives the message.
UdMessage messageTo(const UdAddress& to, const std::vector<std::uint8_t>& payload) {
  UdMessage message;
  message.path.gid = to.gid;
  message.path.hop_limit = 3;
  message.qpn = to.qpn;
  message.q_key = to.q_key;
  message.payload = payload;
  return message;
}

// Sends to a real soft device.
struct TraceSocketsTest : testing::Test {
  void SetUp() override {
    ASSERT_NE(host.endpoint, nullptr);
    auto created = TraceSockets::create(own, kQpn, "lo");
    ASSERT_TRUE(created);
    traces = std::move(*created);
  }

  SoftHost host;
  const IpAddress own = freshLoopback();
  std::unique_ptr<TraceSockets> traces;
};

TEST_F(TraceSocketsTest, AMessageComesFromTheQueuePair) {
  const std::vector<std::uint8_t> payload(40, 7);
  ASSERT_TRUE(traces->send(kPort, 0, messageTo(host.endpoint->address(), payload)));
  ASSERT_TRUE(host.untilReceived(1)) << "a wrong iCRC would have been dropped";
  EXPECT_EQ(host.received[0].payload, payload);
  EXPECT_EQ(host.received[0].qpn, kQpn);
  EXPECT_EQ(host.received[0].from.gid, Gid::of(own));
}

TEST_F(TraceSocketsTest, APortOfAnotherProgramIsNotReplaced) {
  const UdMessage message = messageTo(host.endpoint->address(), kPayload);
  {
    const auto other = net::UdpSocket::bind(own, kPort);
    ASSERT_TRUE(other);
    EXPECT_FALSE(traces->send(kPort, 0, message));
  }
  EXPECT_EQ(traces->withoutPort(), 1U);
  EXPECT_TRUE(traces->send(kPort, 0, message)) << "it is free again";
}

TEST_F(TraceSocketsTest, RefusesTheOtherFamily) {
  UdAddress to;
  to.gid = Gid::of(*IpAddress::parse("::1"));
  EXPECT_FALSE(traces->send(kPort, 0, messageTo(to, kPayload)));
}

TEST_F(TraceSocketsTest, MorePortsThanItKeepsOpen) {
  const UdMessage message = messageTo(host.endpoint->address(), kPayload);
  constexpr std::size_t kPorts = TraceSockets::kMaxSockets + 1;
  for (std::size_t i = 0; i < kPorts; ++i) {
    EXPECT_TRUE(traces->send(static_cast<std::uint16_t>(kPort + i), 0, message)) << i;
  }
  EXPECT_TRUE(host.untilReceived(kPorts));
  EXPECT_TRUE(net::UdpSocket::bind(own, kPort)) << "the least recently used one is closed";
  EXPECT_FALSE(net::UdpSocket::bind(own, kPort + 1));
}

net::Bounce bounceOf(const std::vector<std::uint8_t>& packet) {
  net::Bounce bounce{};
  bounce.expired = true;
  bounce.sender = *IpAddress::parse("10.0.0.9");
  bounce.destination = {*IpAddress::parse("10.0.1.1"), kRoceUdpPort};
  bounce.quoted_bytes = std::min(packet.size(), bounce.quoted.size());
  std::copy_n(packet.begin(), bounce.quoted_bytes, bounce.quoted.begin());
  return bounce;
}

std::vector<std::uint8_t> udPacket() {
  const std::vector<std::uint8_t> payload(40, 7);
  Packet packet;
  packet.deth.source_qpn = kQpn;
  packet.payload = payload;
  std::vector<std::uint8_t> bytes(wireBytes(packet));
  write(packet, bytes);
  return bytes;
}

TEST(ExpiredPacket, SaysWhoseMessageItWas) {
  const auto found = expiredPacket(bounceOf(udPacket()));
  ASSERT_TRUE(found);
  EXPECT_EQ(found->qpn, kQpn);
  EXPECT_EQ(found->what.router.text(), "10.0.0.9");
  EXPECT_EQ(found->what.destination.text(), "10.0.1.1");
  EXPECT_EQ(found->what.quoted_bytes, UdExpired::kQuoted);
  EXPECT_EQ(found->what.quoted.front(), 7);
}

TEST(ExpiredPacket, RefusesEverythingElse) {
  auto unreachable = bounceOf(udPacket());
  unreachable.expired = false;
  EXPECT_FALSE(expiredPacket(unreachable));
  auto short_one = bounceOf(udPacket());
  short_one.quoted_bytes = headerBytes(Opcode::kUdSendOnly) - 1;
  EXPECT_FALSE(expiredPacket(short_one));
  auto another = udPacket();
  another.front() = static_cast<std::uint8_t>(Opcode::kRcWriteOnly);
  EXPECT_FALSE(expiredPacket(bounceOf(another)));
}

}  // namespace
}  // namespace pingloom::rdma::soft::trace_sockets_test
