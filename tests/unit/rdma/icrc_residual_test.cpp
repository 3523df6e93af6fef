#include "rdma/soft/icrc_residual.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "captures.h"
#include "rdma/soft/icrc.h"
#include "rdma/soft/ipv4_datagram.h"
#include "rdma/soft/packet.h"

namespace pingloom::rdma::soft::icrc_residual_test {
namespace {

using Bytes = std::vector<std::uint8_t>;

// As an unprivileged receiver sees a datagram: addresses, ports and the UDP payload.
struct Received {
  IcrcFlow flow;
  Bytes payload;

  std::optional<std::uint16_t> id() const {
    return explainingId(flow.compute(payload) ^ receivedIcrc(payload), payload.size());
  }
};

Received receivedOf(const CapturedPacket& captured) {
  Ipv4Datagram datagram;
  EXPECT_EQ(parse(captured.ip, datagram), Ipv4Error::kNone);
  return {datagram.flow(), Bytes(datagram.payload.begin(), datagram.payload.end())};
}

TEST(IcrcResidual, FindsTheIdOfEveryKernelPacket) {
  ASSERT_EQ(capturedPackets().size(), 91U);
  for (const CapturedPacket& captured : capturedPackets()) {
    const auto want = static_cast<std::uint16_t>(captured.ip[4] << 8 | captured.ip[5]);
    EXPECT_EQ(receivedOf(captured).id(), want) << captured.name;
  }
}

TEST(IcrcResidual, FindsEveryIdAtEverySize) {
  const IcrcFlow flow(IpAddress::fromV4(0x0A000001), 0xC000, IpAddress::fromV4(0x0A000002), 4791);
  const auto found = [&flow](Bytes& bytes, std::uint16_t id) {
    flow.seal(bytes, {.id = id});
    return explainingId(flow.compute(bytes) ^ receivedIcrc(bytes), bytes.size());
  };
  Bytes small(kMinPacketBytes + 8, 0x5A);
  for (std::uint32_t id = 0; id <= 0xFFFF; ++id) {
    ASSERT_EQ(found(small, static_cast<std::uint16_t>(id)), id);
  }
  for (std::size_t size = kMinPacketBytes; size <= kMaxPacketBytes; ++size) {
    Bytes bytes(size, static_cast<std::uint8_t>(size));
    const auto id = static_cast<std::uint16_t>(size * 40503);
    ASSERT_EQ(found(bytes, id), id) << size;
  }
}

TEST(IcrcResidual, RefusesEveryFlippedBitOfTheKernelPackets) {
  for (const CapturedPacket& captured : capturedPackets()) {
    Received received = receivedOf(captured);
    for (std::size_t bit = 0; bit < received.payload.size() * 8; ++bit) {
      const bool congestion_byte = bit / 8 == 4;
      const auto flip = static_cast<std::uint8_t>(1 << bit % 8);
      received.payload[bit / 8] ^= flip;
      ASSERT_EQ(received.id().has_value(), congestion_byte) << captured.name << " bit " << bit;
      received.payload[bit / 8] ^= flip;
    }
  }
}

TEST(IcrcResidual, RandomDamagePassesOnceIn65536) {
  std::mt19937 random(11);
  Received received = receivedOf(capturedPackets().front());
  const std::uint32_t good = received.flow.compute(received.payload);
  int passed = 0;
  constexpr int kTries = 1 << 21;
  for (int i = 0; i < kTries; ++i) {
    const auto wrong = static_cast<std::uint32_t>(random());
    if (explainingId(good ^ wrong, received.payload.size())) ++passed;
  }
  // 32 expected; five standard deviations around.
  EXPECT_GT(passed, 4);
  EXPECT_LT(passed, 61);
}

TEST(IcrcResidual, AnotherSourcePortOrAddressIsRefused) {
  Ipv4Datagram datagram;
  ASSERT_EQ(parse(capturedPackets().front().ip, datagram), Ipv4Error::kNone);
  const auto payload = datagram.payload;
  const auto passes = [&payload](const IcrcFlow& flow) {
    return explainingId(flow.compute(payload) ^ receivedIcrc(payload), payload.size()).has_value();
  };
  EXPECT_TRUE(passes(datagram.flow()));
  datagram.source_port ^= 1;
  EXPECT_FALSE(passes(datagram.flow()));
  datagram.source_port ^= 1;
  datagram.source = IpAddress::fromV4(datagram.source.v4() ^ 1);
  EXPECT_FALSE(passes(datagram.flow()));
}

TEST(IcrcResidual, ASizeThatNoPacketHasIsRefused) {
  EXPECT_TRUE(explainingId(0, kMinPacketBytes));
  EXPECT_FALSE(explainingId(0, 0));
  EXPECT_FALSE(explainingId(0, kMinPacketBytes - 1));
  EXPECT_TRUE(explainingId(0, kMaxPacketBytes));
  EXPECT_FALSE(explainingId(0, kMaxPacketBytes + 1));
  EXPECT_FALSE(explainingId(0, static_cast<std::size_t>(-1)));
}

}  // namespace
}  // namespace pingloom::rdma::soft::icrc_residual_test
