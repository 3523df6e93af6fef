#include <gtest/gtest.h>

#include <set>

#include "net/udp_socket.h"
#include "rdma/soft/packet.h"
#include "rdma/soft/source_port.h"
#include "soft_host.h"

namespace pingloom::rdma::soft::soft_ud_test {
namespace {

// Both ways to check IPv4's iCRC; the exact one needs CAP_NET_RAW.
class SoftUd : public testing::TestWithParam<bool> {
 protected:
  SoftOptions options() {
    SoftOptions made;
    made.raw_socket = GetParam();
    return made;
  }
  SoftHost a{options()};
  SoftHost b{options()};

  void SetUp() override {
    ASSERT_TRUE(a.endpoint && b.endpoint);
    if (GetParam() && b.device->info().icrc_check != "exact") GTEST_SKIP() << "no CAP_NET_RAW";
  }
};
INSTANTIATE_TEST_SUITE_P(Icrc, SoftUd, testing::Bool(),
                         [](const auto& test) { return test.param ? "Exact" : "Residual"; });

TEST_P(SoftUd, SaysWhatItIs) {
  const DeviceInfo& info = a.device->info();
  EXPECT_EQ(info.name, "soft");
  EXPECT_EQ(info.link_layer, LinkLayer::kEthernet);
  EXPECT_EQ(info.gid, a.address().gid);
  EXPECT_EQ(info.mtu, 4096U) << "the loopback interface's MTU is 65536";
  EXPECT_EQ(info.clock.source(), ClockSource::kKernel);
  EXPECT_TRUE(info.flow_label_chooses_path);
  EXPECT_EQ(info.icrc_check, GetParam() ? "exact" : "residual");
  EXPECT_EQ(a.endpoint->maxPayload(), 4096U);
  EXPECT_GT(a.address().qpn, 1U);
  EXPECT_LT(a.address().qpn, kMask24);
  EXPECT_EQ(a.address().q_key & kPrivilegedQKey, 0U);
  EXPECT_NE(a.address().q_key, b.address().q_key);
}

TEST_P(SoftUd, CarriesEverySizeUpToTheMtu) {
  const std::vector<std::size_t> sizes = {0, 1, 2, 3, 4, 5, 56, 63, 64, 65, 255, 1024, 4095, 4096};
  for (const std::size_t size : sizes) a.send(b.address(), bytesUpTo(size), size);
  ASSERT_TRUE(b.untilReceived(sizes.size()));
  ASSERT_TRUE(a.untilSent(sizes.size()));
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    EXPECT_EQ(b.received[i].payload, bytesUpTo(sizes[i]));
    EXPECT_EQ(b.received[i].qpn, a.address().qpn);
    EXPECT_EQ(b.received[i].from.gid, a.address().gid);
    EXPECT_EQ(a.sent[i].id, sizes[i]);
    EXPECT_TRUE(a.sent[i].ok);
  }
  EXPECT_EQ(b.allDrops(), 0U);
}

TEST_P(SoftUd, StampsDepartureAndArrivalInOrder) {
  const auto before = static_cast<std::uint64_t>(utcNow());
  for (std::uint64_t id = 0; id < 100; ++id)
    ASSERT_EQ(a.post(b.address(), {1, 2}, id), PostResult::kPosted);
  a.endpoint->flush();
  ASSERT_TRUE(b.untilReceived(100));
  ASSERT_TRUE(a.untilSent(100));
  const auto after = static_cast<std::uint64_t>(utcNow());
  for (std::size_t i = 0; i < 100; ++i) {
    ASSERT_TRUE(a.sent[i].ticks && b.received[i].ticks) << i;
    EXPECT_EQ(a.sent[i].id, i);
    EXPECT_LE(before, *a.sent[i].ticks);
    EXPECT_LE(*a.sent[i].ticks, *b.received[i].ticks);
    EXPECT_LE(*b.received[i].ticks, after);
  }
}

// A reply is known with the departure of what it answers.
TEST_P(SoftUd, TellsADepartureBeforeItsAnswer) {
  a.send(b.address(), {1});
  ASSERT_TRUE(b.untilReceived(1));
  b.send(a.address(), {2});
  a.poll();
  EXPECT_EQ(a.received.size(), 1U);
  EXPECT_EQ(a.sent.size(), 1U);
}

TEST_P(SoftUd, CarriesTheTrafficClass) {
  ASSERT_EQ(a.post(b.address(), {1}, 1, 0, 104), PostResult::kPosted);
  ASSERT_EQ(a.post(b.address(), {2}, 2, 0, 0), PostResult::kPosted);
  a.endpoint->flush();
  ASSERT_TRUE(b.untilReceived(2));
  EXPECT_EQ(b.received[0].from.traffic_class, 104);
  EXPECT_EQ(b.received[1].from.traffic_class, 0);
}

TEST_P(SoftUd, ServesSeveralEndpointsOfOneDevice) {
  auto second = b.device->createUd({});
  ASSERT_TRUE(second);
  ASSERT_NE((*second)->address().qpn, b.address().qpn);
  ASSERT_NE((*second)->descriptor(), b.endpoint->descriptor());
  a.send((*second)->address(), {2});
  a.send(b.address(), {1});
  ASSERT_TRUE(b.untilReceived(1));
  EXPECT_EQ(b.received[0].payload[0], 1);
  EXPECT_EQ((*second)->nextWake(), 0) << "the other one's poll brought it something";
  UdEvents events;
  ASSERT_TRUE((*second)->poll(events));
  ASSERT_EQ(events.received.size(), 1U);
  EXPECT_EQ(events.received[0].payload[0], 2);
  EXPECT_EQ((*second)->nextWake(), INT64_MAX);

  const UdAddress gone = (*second)->address();
  second->reset();
  a.send(gone, {3});
  ASSERT_TRUE(b.until([&] { return b.drops("qpn") == 1; }));
}

TEST_P(SoftUd, TalksToItself) {
  a.send(a.address(), {7});
  ASSERT_TRUE(a.untilReceived(1));
  EXPECT_EQ(a.received[0].from.gid, a.address().gid);
}

TEST_P(SoftUd, PushesBackWhenTooMuchIsUnderWay) {
  std::size_t posted = 0;
  while (a.post(b.address(), {1}, posted) == PostResult::kPosted) ++posted;
  EXPECT_EQ(posted, 4096U);
  a.endpoint->flush();
  ASSERT_TRUE(a.untilSent(posted));
  std::set<std::uint64_t> ids;
  for (const UdSent& sent : a.sent) ids.insert(sent.id);
  EXPECT_EQ(ids.size(), posted) << "each exactly once";
  EXPECT_EQ(a.post(b.address(), {1}), PostResult::kPosted);
}

TEST_P(SoftUd, FailsWhatCannotBeSent) {
  EXPECT_EQ(a.post(b.address(), bytesUpTo(4097), 5), PostResult::kPosted);
  a.endpoint->flush();
  ASSERT_TRUE(a.untilSent(1));
  EXPECT_EQ(a.sent[0].id, 5U);
  EXPECT_FALSE(a.sent[0].ok);
  for (const char* address : {"0.0.0.0", "224.0.0.1", "255.255.255.255", "fd00::1"}) {
    UdAddress to = b.address();
    to.gid = Gid::of(IpAddress::parse(address).value());
    EXPECT_EQ(a.post(to, {1}), PostResult::kUnreachable) << address;
  }
}

TEST_P(SoftUd, CountsWhatComesBack) {
  UdAddress nobody = b.address();
  nobody.gid = Gid::of(freshLoopback());
  a.send(nobody, {1});
  ASSERT_TRUE(a.untilSent(1));
  EXPECT_TRUE(a.sent[0].ok) << "it left";
  ASSERT_TRUE(a.until([&] { return a.drops("icmp_error") == 1; }));
  a.send(b.address(), {2});
  ASSERT_TRUE(b.untilReceived(1)) << "the error is nobody else's";
}

TEST_P(SoftUd, GivesEveryFlowLabelItsSourcePort) {
  const auto witness = net::UdpSocket::bind(freshLoopback(), kRoceUdpPort);
  ASSERT_TRUE(witness);
  UdAddress to;
  to.gid = Gid::of(witness->address());
  net::RxBatch batch;
  const auto port_of = [&](std::uint32_t label) -> int {
    EXPECT_EQ(a.post(to, {1}, 1, label), PostResult::kPosted);
    a.endpoint->flush();
    return batch.receive(witness->descriptor(), 0) == 1 ? batch.from(0).port : -1;
  };
  EXPECT_EQ(port_of(0), kRoceUdpPort);
  EXPECT_EQ(port_of(0x5), sourcePortOf(0x5));
  EXPECT_EQ(port_of(0xABCDE), sourcePortOf(0xABCDE));
  EXPECT_EQ(port_of(0x5), sourcePortOf(0x5));
  // Many more labels than sockets: the oldest make room.
  std::set<int> ports;
  for (std::uint32_t label = 1; label <= 300; ++label) {
    ports.insert(port_of(label));
    a.poll();
  }
  EXPECT_EQ(ports.size(), 300U);
  EXPECT_EQ(port_of(1), sourcePortOf(1));
  ASSERT_TRUE(a.until([&] { return a.sent.size() == 305; }));
  const auto stamped = std::count_if(a.sent.begin(), a.sent.end(),
                                     [](const UdSent& sent) { return sent.ticks.has_value(); });
  EXPECT_EQ(stamped, 305);
}

TEST_P(SoftUd, TakesANeighbourOfATakenPort) {
  const auto squatter = net::UdpSocket::bind(a.device->info().gid.address(), sourcePortOf(9));
  const auto witness = net::UdpSocket::bind(freshLoopback(), kRoceUdpPort);
  ASSERT_TRUE(squatter && witness);
  UdAddress to;
  to.gid = Gid::of(witness->address());
  ASSERT_EQ(a.post(to, {1}, 1, 9), PostResult::kPosted);
  a.endpoint->flush();
  net::RxBatch batch;
  ASSERT_EQ(batch.receive(witness->descriptor(), 0), 1);
  EXPECT_EQ(batch.from(0).port, sourcePortOf(9) + 1);
}

TEST(SoftDevice, GoesByTheMessageOverItsOwnFlowLabel) {
  UdOptions ud;
  ud.flow_label = 77;
  SoftHost a({}, ud);
  const auto witness = net::UdpSocket::bind(freshLoopback(), kRoceUdpPort);
  ASSERT_TRUE(a.endpoint && witness);
  UdAddress to;
  to.gid = Gid::of(witness->address());
  ASSERT_EQ(a.post(to, {1}, 1, 0), PostResult::kPosted);
  ASSERT_EQ(a.post(to, {1}, 2, 78), PostResult::kPosted);
  a.endpoint->flush();
  net::RxBatch batch;
  ASSERT_EQ(batch.receive(witness->descriptor(), 0), 2);
  EXPECT_EQ(batch.from(0).port, sourcePortOf(77));
  EXPECT_EQ(batch.from(1).port, sourcePortOf(78));
}

TEST(SoftDevice, SpeaksIpv6) {
  const auto loopback = IpAddress::parse("::1").value();
  SoftHost a(loopback);
  if (!a.endpoint) GTEST_SKIP() << "no ::1 here, or another test has its port 4791";
  EXPECT_EQ(a.device->info().icrc_check, "exact");
  for (const std::size_t size : {0, 3, 64, 4096}) a.send(a.address(), bytesUpTo(size), size);
  ASSERT_EQ(a.post(a.address(), {9}, 9, 0xFEDCB, 104), PostResult::kPosted);
  a.endpoint->flush();
  ASSERT_TRUE(a.until([&] { return a.received.size() == 5 && a.sent.size() == 5; }));
  EXPECT_EQ(a.received[3].payload, bytesUpTo(4096));
  EXPECT_EQ(a.received[4].from.traffic_class, 104);
  EXPECT_EQ(a.received[4].from.gid, a.address().gid);
  for (const UdSent& sent : a.sent) EXPECT_TRUE(sent.ok && sent.ticks);
  EXPECT_EQ(a.allDrops(), 0U);
}

TEST(SoftDevice, RefusesWhatItCannotBe) {
  EXPECT_FALSE(openSoftDevice(IpAddress()));
  const auto foreign = openSoftDevice(IpAddress::parse("203.0.113.77").value());
  ASSERT_FALSE(foreign);
  EXPECT_EQ(foreign.error().text(),
            "203.0.113.77: no network interface of this host has this address");
  const SoftHost host;
  ASSERT_TRUE(host.device);
  const auto taken = openSoftDevice(host.device->info().gid.address());
  ASSERT_FALSE(taken);
  EXPECT_NE(taken.error().reason.find("another soft device"), std::string::npos);
  EXPECT_NE(taken.error().reason.find("rdma_rxe"), std::string::npos);

  UdOptions ud;
  for (const std::uint32_t mtu : {128U, 1000U, 8192U}) {
    ud.mtu = mtu;
    EXPECT_FALSE(host.device->createUd(ud)) << mtu;
  }
  ud = {};
  ud.q_key = 0x80000001;
  EXPECT_FALSE(host.device->createUd(ud));
  ud = {};
  ud.p_key_index = 1;
  EXPECT_FALSE(host.device->createUd(ud));
  ud = {};
  ud.q_key = 0x11111111;
  ud.mtu = 1024;
  const auto good = host.device->createUd(ud);
  ASSERT_TRUE(good);
  EXPECT_EQ((*good)->address().q_key, 0x11111111U);
  EXPECT_EQ((*good)->maxPayload(), 1024U);
}

}  // namespace
}  // namespace pingloom::rdma::soft::soft_ud_test
