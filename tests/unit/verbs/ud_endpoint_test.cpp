#include <poll.h>

#include <chrono>
#include <set>
#include <thread>

#include "fake_host.h"
#include "rdma/verbs/quirks.h"
#include "unit/eventually.h"
#include "unit/rdma/soft_host.h"

namespace pingloom::rdma::verbs::ud_endpoint_test {
namespace {

constexpr const char* kTwoNics =
    "device nic_a clock_khz=156250 mask_bits=41\n"
    "port 1\ngid 0 fe80::1 v2\ngid 1 10.0.0.1 v2\ngid 2 fd00::1 v2\n"
    "device nic_b clock_khz=156250 mask_bits=41\n"
    "port 1\ngid 0 fe80::2 v2\ngid 1 10.0.0.2 v2\ngid 2 fd00::2 v2\n";

class UdEndpointTest : public FakeVerbsTest {
 protected:
  void SetUp() override { setDevices(kTwoNics); }
};

TEST_F(UdEndpointTest, ReceivesWhatWasSentAndTheWayBackIPv4) {
  Side a(at("10.0.0.1"));
  Side b(at("10.0.0.2"));
  const UdAddress& to = b.endpoint->address();
  ASSERT_EQ(a.send({to.gid, 0, 106, 0x12345}, to, "hello"), PostResult::kPosted);
  const auto packet = b.nextPacket();
  ASSERT_TRUE(packet);
  EXPECT_EQ(packet->payload, "hello");
  EXPECT_EQ(packet->from.gid.address(), ip("10.0.0.1"));
  EXPECT_EQ(packet->from.traffic_class, 106);
  EXPECT_EQ(packet->from.flow_label, 0U) << "an IPv4 header carries none";
  EXPECT_EQ(packet->from.lid, 0);
  EXPECT_EQ(packet->qpn, a.endpoint->address().qpn);
}

TEST_F(UdEndpointTest, ReceivesWhatWasSentAndTheWayBackIPv6) {
  Side a(at("fd00::1"));
  Side b(at("fd00::2"));
  const UdAddress& to = b.endpoint->address();
  ASSERT_EQ(a.send({to.gid, 0, 106, 0x12345}, to, "hello"), PostResult::kPosted);
  const auto packet = b.nextPacket();
  ASSERT_TRUE(packet);
  EXPECT_EQ(packet->from, (UdPath{a.endpoint->address().gid, 0, 106, 0x12345}));
}

// The entry of the VLAN has the address too; that of another address would make the sender unknown.
TEST_F(UdEndpointTest, APathMayChooseAnotherEntryWithTheSameGid) {
  setDevices(
      "device nic_a\nport 1\ngid 0 fe80::1 v2\ngid 1 10.0.0.1 v1\ngid 2 10.0.0.1 v2\n"
      "gid 3 10.0.9.1 v2\n"
      "gid 4 10.0.0.1 v2\ndevice nic_b\nport 1\ngid 1 10.0.0.2 v2\n");
  Side a(at("10.0.0.1"));
  Side b(at("10.0.0.2"));
  const UdAddress& to = b.endpoint->address();
  UdPath path{to.gid, 0, 0, 0};
  path.gid_index = 4;
  path.service_level = 3;
  ASSERT_EQ(a.send(path, to, "hello"), PostResult::kPosted);
  const auto packet = b.nextPacket();
  ASSERT_TRUE(packet);
  EXPECT_EQ(packet->from.gid.address(), ip("10.0.0.1"));
  EXPECT_EQ(packet->from.service_level, std::nullopt) << "with RoCE it is the sender's own affair";
  for (const std::uint8_t other : {1, 3, 9}) {
    path.gid_index = other;
    EXPECT_EQ(a.send(path, to, "x"), PostResult::kUnreachable) << int{other};
  }
}

// A message with a hop limit leaves through the kernel's UDP, so a real soft device gets it.
TEST_F(UdEndpointTest, AMessageWithAHopLimitLeavesFromTheFlowsSourcePort) {
  setDevices("device nic_a\nport 1\ngid 0 127.1.0.1 v2\n");
  Side a(at("127.1.0.1"));
  soft::SoftHost host;
  ASSERT_NE(host.endpoint, nullptr);
  UdPath path{host.address().gid, 0, 0, 5};
  EXPECT_EQ(a.endpoint->sourcePort(path), 0xC005);
  path.hop_limit = 9;
  ASSERT_EQ(a.send(path, host.address(), "probe", 77), PostResult::kPosted);
  const auto sent = a.nextSent();
  ASSERT_TRUE(sent);
  EXPECT_EQ(sent->id, 77U);
  EXPECT_TRUE(sent->ok);
  ASSERT_TRUE(host.untilReceived(1));
  EXPECT_EQ(host.received[0].qpn, a.endpoint->address().qpn);
  EXPECT_EQ(host.received[0].from.gid.address(), ip("127.1.0.1"));
  path.flow_label = 0;
  const std::uint32_t own_label = ownLabelOf(PortChoice::kFlowLabel, a.endpoint->address().gid);
  EXPECT_EQ(a.endpoint->sourcePort(path), soft::sourcePortOf(own_label));
}

TEST_F(UdEndpointTest, MessagesWithoutALabelHaveOneThatIsKnown) {
  Side a(at("fd00::1"));
  Side b(at("fd00::2"));
  ASSERT_EQ(a.send(b.endpoint->address(), "hello"), PostResult::kPosted);
  const auto packet = b.nextPacket();
  ASSERT_TRUE(packet);
  const Gid& own = a.endpoint->address().gid;
  EXPECT_EQ(packet->from.flow_label, ownLabelOf(PortChoice::kFlowLabel, own));
}

TEST_F(UdEndpointTest, AnswersItself) {
  Side a(at("10.0.0.1"));
  ASSERT_EQ(a.send(a.endpoint->address(), "self"), PostResult::kPosted);
  ASSERT_TRUE(a.nextSent());
  EXPECT_EQ(a.nextPacket()->payload, "self");
}

TEST_F(UdEndpointTest, LargestMessageFits) {
  Side a(at("10.0.0.1"));
  Side b(at("10.0.0.2"));
  ASSERT_EQ(b.endpoint->maxPayload(), 1024U);
  const std::string payload(1024, 'x');
  ASSERT_EQ(a.send(b.endpoint->address(), payload), PostResult::kPosted);
  EXPECT_EQ(b.nextPacket()->payload, payload);
  EXPECT_EQ(a.send(b.endpoint->address(), payload + "x"), PostResult::kUnreachable);
}

TEST_F(UdEndpointTest, KeysAreRandomAndNotPrivileged) {
  std::set<std::uint32_t> keys;
  for (int i = 0; i < 8; ++i) {
    Side a(at("10.0.0.1"));
    EXPECT_EQ(a.endpoint->address().q_key & kPrivilegedQKey, 0U);
    keys.insert(a.endpoint->address().q_key);
  }
  EXPECT_GE(keys.size(), 7U);
}

TEST_F(UdEndpointTest, AnotherKeyIsNotReceivedAndAPrivilegedOneNotSent) {
  Side a(at("10.0.0.1"));
  UdOptions options;
  options.q_key = 0x1234;
  Side b(at("10.0.0.2"), options);
  UdAddress to = b.endpoint->address();
  EXPECT_EQ(to.q_key, 0x1234U);
  to.q_key = 0x1235;
  ASSERT_EQ(a.send(to, "wrong"), PostResult::kPosted);
  to.q_key = 0x80001234;
  EXPECT_EQ(a.send(to, "privileged"), PostResult::kUnreachable);
  to.q_key = 0x1234;
  ASSERT_EQ(a.send(to, "right"), PostResult::kPosted);
  EXPECT_EQ(b.nextPacket()->payload, "right");
}

// Many times the queues' sizes: nothing is lost for want of a buffer, and a full send queue is
// said.
TEST_F(UdEndpointTest, QueuesNeitherStarveNorOverflow) {
  Side a(at("10.0.0.1"));
  Side b(at("10.0.0.2"));
  constexpr std::uint64_t kMessages = 20'000;
  constexpr std::uint64_t kAhead = 1000;  // loopback's own buffers are no subject of this
  const std::string payload(64, 'x');
  ASSERT_EQ(a.send(b.endpoint->address(), payload), PostResult::kPosted);
  UdMessage message;
  message.path = {b.endpoint->address().gid, 0, 0, 0};
  message.qpn = b.endpoint->address().qpn;
  message.q_key = b.endpoint->address().q_key;
  message.payload = {reinterpret_cast<const std::uint8_t*>(payload.data()), payload.size()};
  std::uint64_t posted = 1;
  std::uint64_t sent = 0;
  std::uint64_t received = 0;
  std::uint64_t full = 0;
  const auto post = [&] {
    while (posted < kMessages && posted < received + kAhead) {
      message.id = posted;
      const PostResult result = a.endpoint->post(message);
      if (result == PostResult::kFull) ++full;
      if (result != PostResult::kPosted) break;
      ++posted;
    }
    a.endpoint->flush();
  };
  test::eventually([&] { return received == kMessages; },
                   [&] {
                     post();
                     if (!a.step(1) || !b.step(1)) return false;
                     sent += a.events.sent.size();
                     received += b.events.received.size();
                     return true;
                   });
  EXPECT_EQ(received, kMessages);
  EXPECT_EQ(sent, kMessages);
  EXPECT_GT(full, 0U);
}

// The classic lost wake-up: what comes between the last look and the arming makes no event.
TEST_F(UdEndpointTest, WhatComesJustBeforeTheArmingIsTaken) {
  Side a(at("10.0.0.1"));
  Side b(at("10.0.0.2"));
  ASSERT_TRUE(b.endpoint->poll(b.events));
  ASSERT_EQ(a.send(b.endpoint->address(), "first"), PostResult::kPosted);
  pollfd readable{b.endpoint->descriptor(), POLLIN, 0};
  ASSERT_EQ(::poll(&readable, 1, 2000), 1);
  fakeVerbsFault("race nic_b 1");
  ASSERT_EQ(a.send(b.endpoint->address(), "second"), PostResult::kPosted);
  std::this_thread::sleep_for(std::chrono::milliseconds(50));  // until it has come
  ASSERT_TRUE(b.endpoint->poll(b.events));
  ASSERT_EQ(b.events.received.size(), 2U);
  EXPECT_EQ(textOf(b.events.received[1].payload), "second");
}

TEST_F(UdEndpointTest, BusyPollingNeedsNoEvents) {
  UdOptions options;
  options.busy = true;
  Side a(at("10.0.0.1"), options);
  Side b(at("10.0.0.2"), options);
  EXPECT_LE(a.endpoint->nextWake(), monotonicNow());
  ASSERT_EQ(a.send(b.endpoint->address(), "busy"), PostResult::kPosted);
  EXPECT_EQ(b.nextPacket()->payload, "busy");
}

TEST_F(UdEndpointTest, MtuIsCheckedAgainstThePort) {
  auto device = openVerbsDevice(at("10.0.0.1"));
  ASSERT_TRUE(device);
  UdOptions options;
  options.mtu = 512;
  auto smaller = (*device)->createUd(options);
  ASSERT_TRUE(smaller);
  EXPECT_EQ((*smaller)->maxPayload(), 512U);
  options.mtu = 2048;
  const auto larger = (*device)->createUd(options);
  ASSERT_FALSE(larger);
  EXPECT_EQ(larger.error().text(),
            "nic_a port 1: rdma.mtu 2048 is above the port's active MTU 1024");
}

TEST_F(UdEndpointTest, PKeyIndexThatIsNotThereIsSaid) {
  auto device = openVerbsDevice(at("10.0.0.1"));
  UdOptions options;
  options.p_key_index = 5;
  const auto made = (*device)->createUd(options);
  ASSERT_FALSE(made);
  EXPECT_NE(made.error().text().find("P_Key index 5"), std::string::npos) << made.error().text();
}

class InfinibandTest : public FakeVerbsTest {
 protected:
  void SetUp() override {
    setDevices(
        "device hca_a clock_khz=156250 mask_bits=41\n"
        "port 1 link=infiniband lid=11 state=down\ngid 0 fe80::11 ib\n"
        "port 2 link=infiniband lid=12\ngid 0 fe80::12 ib\n"
        "device hca_b clock_khz=156250 mask_bits=41\n"
        "port 1 link=infiniband lid=21\ngid 0 fe80::21 ib\n");
  }
};

TEST_F(InfinibandTest, ByLidWithoutAGlobalHeader) {
  Side a({.device = "hca_a"});
  Side b({.device = "hca_b"});
  EXPECT_EQ(a.device->info().port, 2) << "the first that is active";
  EXPECT_EQ(a.endpoint->address().lid, 12);
  ASSERT_EQ(a.send(b.endpoint->address(), "by lid"), PostResult::kPosted);
  const auto packet = b.nextPacket();
  ASSERT_TRUE(packet);
  EXPECT_EQ(packet->from, (UdPath{Gid{}, 12, 0, 0, 0}));
  // And back.
  ASSERT_EQ(b.send(packet->from, a.endpoint->address(), "back"), PostResult::kPosted);
  EXPECT_EQ(a.nextPacket()->payload, "back");
}

TEST_F(InfinibandTest, WithAGlobalHeaderWhereAsked) {
  UdOptions options;
  options.grh = true;
  Side a({.device = "hca_a", .port = 2}, options);
  Side b({.device = "hca_b"}, options);
  const UdAddress& to = b.endpoint->address();
  ASSERT_EQ(a.send({to.gid, to.lid, 7, 9}, to, "global"), PostResult::kPosted);
  const auto packet = b.nextPacket();
  ASSERT_TRUE(packet);
  EXPECT_EQ(packet->from, (UdPath{a.endpoint->address().gid, 12, 7, 9, 0}));
}

TEST_F(InfinibandTest, APathsServiceLevelIsThatOfItsAnswerToo) {
  Side a({.device = "hca_a"});
  UdOptions options;
  options.service_level = 2;
  Side b({.device = "hca_b"}, options);
  UdPath path{b.endpoint->address().gid, b.endpoint->address().lid, 0, 0};
  path.service_level = 5;
  ASSERT_EQ(a.send(path, b.endpoint->address(), "question"), PostResult::kPosted);
  const auto packet = b.nextPacket();
  ASSERT_TRUE(packet);
  EXPECT_EQ(packet->from.service_level, 5);
  ASSERT_EQ(b.send(packet->from, a.endpoint->address(), "answer"), PostResult::kPosted);
  const auto answer = a.nextPacket();
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->from.service_level, 5) << "and not the 2 of its endpoint";
  path.service_level = std::nullopt;
  ASSERT_EQ(a.send(path, b.endpoint->address(), "of the endpoint"), PostResult::kPosted);
  EXPECT_EQ(b.nextPacket()->from.service_level, 0);
}

TEST_F(InfinibandTest, APathMayChooseAnyGidOfThePort) {
  setDevices(
      "device hca_a\nport 1 link=infiniband lid=11\ngid 0 fe80::11 ib\ngid 1 fd00::11 ib\n"
      "device hca_b\nport 1 link=infiniband lid=21\ngid 0 fe80::21 ib\n");
  Side a({.device = "hca_a"});
  Side b({.device = "hca_b"});
  UdPath path{b.endpoint->address().gid, b.endpoint->address().lid, 0, 0};
  path.gid_index = 1;
  ASSERT_EQ(a.send(path, b.endpoint->address(), "x"), PostResult::kPosted);
  const auto packet = b.nextPacket();
  ASSERT_TRUE(packet);
  EXPECT_EQ(packet->from.gid, Gid::of(ip("fd00::11"))) << "the message has a global header";
}

}  // namespace
}  // namespace pingloom::rdma::verbs::ud_endpoint_test
