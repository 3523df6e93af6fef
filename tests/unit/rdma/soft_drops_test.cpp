// Packets that a soft device must not take, from a plain UDP socket.
#include <gtest/gtest.h>

#include <functional>

#include "net/udp_socket.h"
#include "rdma/soft/icrc.h"
#include "rdma/soft/packet.h"
#include "soft_host.h"

namespace pingloom::rdma::soft::soft_drops_test {
namespace {

using Bytes = std::vector<std::uint8_t>;

class SoftDrops : public testing::TestWithParam<bool> {
 protected:
  void SetUp() override {
    SoftOptions options;
    options.raw_socket = GetParam();
    UdOptions ud;
    ud.mtu = 1024;
    host = std::make_unique<SoftHost>(options, ud);
    ASSERT_TRUE(host->endpoint);
    if (GetParam() && host->device->info().icrc_check != "exact") GTEST_SKIP() << "no CAP_NET_RAW";
    net::UdpSocketOptions whole;
    whole.unfragmented = true;
    auto bound = net::UdpSocket::bind(freshLoopback(), kPort, whole);
    ASSERT_TRUE(bound);
    stranger = std::make_unique<net::UdpSocket>(std::move(*bound));
  }

  // A packet that is to be taken.
  Packet good() const {
    Packet packet;
    packet.bth.destination_qpn = host->address().qpn;
    packet.bth.psn = 0x123456;
    packet.deth = {host->address().q_key, 0x77};
    packet.payload = payload;
    return packet;
  }
  Bytes sealed(const Packet& packet) const {
    Bytes bytes(wireBytes(packet));
    write(packet, bytes);
    return resealed(std::move(bytes));
  }
  Bytes resealed(Bytes bytes) const {
    IcrcFlow(stranger->address(), kPort, host->address().gid.address(), kRoceUdpPort).seal(bytes);
    return bytes;
  }
  void throwAt(const Bytes& bytes) const {
    sockaddr_storage to{};
    const socklen_t length = host->address().gid.address().toSockaddr(kRoceUdpPort, to);
    ASSERT_EQ(sendto(stranger->descriptor(), bytes.data(), bytes.size(), 0,
                     reinterpret_cast<const sockaddr*>(&to), length),
              static_cast<ssize_t>(bytes.size()));
  }
  // Exactly this reason counts it, and the endpoint lives on.
  void expectDropped(const Bytes& bytes, std::string_view reason) {
    const std::uint64_t before = host->drops(reason);
    const std::uint64_t all_before = host->allDrops();
    throwAt(bytes);
    EXPECT_TRUE(host->until([&] { return host->allDrops() > all_before; })) << reason;
    EXPECT_EQ(host->drops(reason), before + 1) << reason;
    EXPECT_EQ(host->allDrops(), all_before + 1) << reason;
    EXPECT_TRUE(host->received.empty()) << reason;
    expectTaken(sealed(good()));
  }
  void expectTaken(const Bytes& bytes) {
    throwAt(bytes);
    ASSERT_TRUE(host->untilReceived(1));
    EXPECT_EQ(host->received[0].payload, payload);
    EXPECT_EQ(host->received[0].qpn, 0x77U);
    host->received.clear();
  }

  static constexpr std::uint16_t kPort = 20999;
  const Bytes payload = {'p', 'i', 'n', 'g', '!'};
  std::unique_ptr<SoftHost> host;
  std::unique_ptr<net::UdpSocket> stranger;
};
INSTANTIATE_TEST_SUITE_P(Icrc, SoftDrops, testing::Bool(),
                         [](const auto& test) { return test.param ? "Exact" : "Residual"; });

TEST_P(SoftDrops, TakesWhatKernelAndNicsSend) {
  expectTaken(sealed(good()));
  Packet packet = good();
  packet.bth.p_key = 0x7FFF;  // a limited member
  expectTaken(sealed(packet));
  packet = good();
  packet.bth.solicited = packet.bth.migration_done = packet.bth.ack_request = true;
  packet.bth.fecn = packet.bth.becn = true;
  expectTaken(sealed(packet));
  packet = good();
  packet.bth.opcode = Opcode::kUdSendOnlyImmediate;
  packet.immediate = 0xDEADBEEF;
  expectTaken(sealed(packet));
  EXPECT_EQ(host->allDrops(), 0U);
}

TEST_P(SoftDrops, EveryTruncationOfAPacket) {
  const Bytes whole = sealed(good());
  for (std::size_t length = 0; length < whole.size(); ++length) {
    const Bytes cut(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(length));
    const std::uint64_t before = host->allDrops();
    throwAt(cut);
    ASSERT_TRUE(host->until([&] { return host->allDrops() > before; })) << length;
  }
  // Below headers and iCRC it is short; above, the iCRC does not fit or there is more padding than
  // payload.
  EXPECT_EQ(host->drops("short"), 12U + 8 + 4);
  EXPECT_EQ(host->allDrops(), whole.size());
  EXPECT_TRUE(host->received.empty());
  expectTaken(whole);
}

TEST_P(SoftDrops, WrongForm) {
  Bytes bytes = sealed(good());
  bytes[1] |= 0x0F;
  expectDropped(resealed(bytes), "version");
  bytes = sealed(good());
  bytes[0] = 0xE4;
  expectDropped(resealed(bytes), "opcode");

  Packet packet = good();
  packet.payload = {};
  bytes = sealed(packet);
  bytes[1] |= 0x30;
  expectDropped(resealed(bytes), "pad");

  packet = good();
  packet.bth.opcode = Opcode::kRcAcknowledge;
  packet.payload = {};
  bytes = sealed(packet);
  bytes.insert(bytes.end(), 4, 0);
  expectDropped(resealed(bytes), "payload");

  Bytes longest(5000, 0);
  longest[0] = static_cast<std::uint8_t>(Opcode::kUdSendOnly);
  expectDropped(longest, "long");
  const Bytes above(1028, 1);
  packet = good();
  packet.payload = above;
  expectDropped(sealed(packet), "long");
}

TEST_P(SoftDrops, WrongIcrc) {
  const Bytes whole = sealed(good());
  for (std::size_t byte = 8; byte < whole.size(); ++byte) {
    Bytes damaged = whole;
    damaged[byte] ^= 0x10;
    expectDropped(damaged, "icrc");
  }
  Bytes masked = whole;
  masked[4] ^= 0x40;  // a congestion mark: not covered
  expectTaken(masked);
}

TEST_P(SoftDrops, WrongAddress) {
  Packet packet = good();
  packet.bth.p_key = 0xFFFE;
  expectDropped(sealed(packet), "p_key");
  packet.bth.p_key = 0;
  expectDropped(sealed(packet), "p_key");
  packet = good();
  packet.bth.destination_qpn ^= 1;
  expectDropped(sealed(packet), "qpn");
  for (const std::uint32_t reserved : {0U, 1U, kMask24}) {
    packet.bth.destination_qpn = reserved;
    expectDropped(sealed(packet), "qpn");
  }
  packet = good();
  packet.deth.q_key ^= 0x80000000;
  expectDropped(sealed(packet), "q_key");
}

TEST_P(SoftDrops, WhatAUdEndpointDoesNotTake) {
  Packet packet = good();
  packet.bth.opcode = Opcode::kRcReadRequest;
  packet.payload = {};
  expectDropped(sealed(packet), "opcode");
}

TEST_P(SoftDrops, MoreThanTheEndpointIsPolledFor) {
  // The other endpoint's poll empties the socket for both.
  const auto other = host->device->createUd({});
  ASSERT_TRUE(other);
  constexpr std::size_t kMore = 300;
  for (std::size_t i = 0; i < kMore; ++i) throwAt(sealed(good()));
  UdEvents events;
  for (int i = 0; i < 10; ++i) ASSERT_TRUE((*other)->poll(events));
  EXPECT_EQ(host->drops("receive_queue"), kMore - 256);
  ASSERT_TRUE(host->untilReceived(256));
  EXPECT_EQ(host->received.size(), 256U);
  host->received.clear();
  expectTaken(sealed(good()));
}

TEST_P(SoftDrops, MoreThanTheSocketHolds) {
  const Bytes packet = sealed(good());
  constexpr std::size_t kMore = 20'000;  // 4 MB hold fewer
  for (std::size_t i = 0; i < kMore; ++i) throwAt(packet);
  for (std::size_t before = 1; before != host->received.size();) {
    before = host->received.size();
    host->poll();
  }
  throwAt(packet);  // tells how many were dropped before it
  ASSERT_TRUE(host->until([&] { return host->drops("socket_overflow") > 0; }));
  EXPECT_EQ(host->received.size() + host->drops("socket_overflow"), kMore + 1);
}

}  // namespace
}  // namespace pingloom::rdma::soft::soft_drops_test
