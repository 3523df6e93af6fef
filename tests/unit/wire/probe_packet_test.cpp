#include "wire/probe_packet.h"

#include <gtest/gtest.h>

#include <array>
#include <vector>

namespace pingloom::wire::probe_packet_test {
namespace {

std::vector<std::uint8_t> bytesOf(const ProbeMessage& message, std::size_t length) {
  std::vector<std::uint8_t> bytes(std::max<std::size_t>(length, kPongMaxBytes));
  write(message, bytes);
  bytes.resize(length);
  return bytes;
}

// The example of docs/probe-packets.md.
TEST(ProbePacket, PingHasTheDocumentedBytes) {
  ProbeMessage ping;
  ping.type = ProbeType::kPing;
  ping.clock = 2;
  ping.length = 64;
  ping.id = 0x01020304;
  ping.incarnation = 0xA1B2C3D4;
  ping.nonce = 0x1122334455667788;
  const std::vector<std::uint8_t> want = {0x50, 0x4c, 1,    1,    0,    2,    0,    64,
                                          1,    2,    3,    4,    0xa1, 0xb2, 0xc3, 0xd4,
                                          0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77, 0x88};
  const auto bytes = bytesOf(ping, 64);
  EXPECT_EQ(std::vector<std::uint8_t>(bytes.begin(), bytes.begin() + 24), want);
  ProbeMessage back;
  ASSERT_EQ(parse(bytes, back), ProbeParseError::kNone);
  EXPECT_EQ(back.id, ping.id);
  EXPECT_EQ(back.nonce, ping.nonce);
  EXPECT_EQ(back.incarnation, ping.incarnation);
}

TEST(ProbePacket, PingNamesTheKeyAndTheLabelOfItsAnswers) {
  ProbeMessage ping;
  ping.type = ProbeType::kPing;
  ping.length = 132;
  ping.q_key = 0x11223344;
  ping.answer_label = 0x00012345;
  const auto bytes = bytesOf(ping, 132);
  const std::vector<std::uint8_t> want = {0x11, 0x22, 0x33, 0x44, 0, 1, 0x23, 0x45};
  EXPECT_EQ(std::vector<std::uint8_t>(bytes.begin() + 24, bytes.begin() + 32), want);
  ProbeMessage back;
  ASSERT_EQ(parse(bytes, back), ProbeParseError::kNone);
  EXPECT_EQ(back.q_key, ping.q_key);
  EXPECT_EQ(back.answer_label, ping.answer_label);
}

TEST(ProbePacket, ACountedPingNamesItsProbeAndItsWindow) {
  ProbeMessage ping;
  ping.flags = kFlagCounted;
  ping.length = 132;
  ping.probe = probeTag("rail0");
  ping.window = 0x01020304;
  EXPECT_EQ(ping.probe, 0x9bbbe46bU);
  const auto bytes = bytesOf(ping, 132);
  const std::vector<std::uint8_t> want = {0x9b, 0xbb, 0xe4, 0x6b, 1, 2, 3, 4};
  EXPECT_EQ(std::vector<std::uint8_t>(bytes.begin() + 32, bytes.begin() + 40), want);
  ProbeMessage back;
  ASSERT_EQ(parse(bytes, back), ProbeParseError::kNone);
  EXPECT_TRUE(back.counted());
  EXPECT_EQ(back.probe, ping.probe);
  EXPECT_EQ(back.window, ping.window);
}

TEST(ProbePacket, AckCarriesTheResponderTime) {
  ProbeMessage ack;
  ack.type = ProbeType::kAck;
  ack.flags = kFlagStalled;
  ack.responder_ns = 123'456'789'012;
  ProbeMessage back;
  ASSERT_EQ(parse(bytesOf(ack, kAckBytes), back), ProbeParseError::kNone);
  EXPECT_EQ(back.responder_ns, 123'456'789'012U);
  EXPECT_TRUE(back.stalled());
}

// The example of docs/probe-packets.md.
TEST(ProbePacket, APongTellsOfEarlierExchanges) {
  ProbeMessage pong;
  pong.type = ProbeType::kPong;
  pong.clock = 2;
  pong.id = 0x01020305;
  pong.incarnation = 0xA1B2C3D4;
  pong.nonce = 0x1122334455667788;
  pong.residences = {{{0x01020304, 21'000, true, false}, {0x01020303, 0, false, true}}};
  pong.residence_count = 2;
  ASSERT_EQ(lengthOf(pong), 40U);
  const auto bytes = bytesOf(pong, 40);
  const std::vector<std::uint8_t> want = {
      0x50, 0x4c, 1,    2,    0,    2,    0,    40,   1,    2,    3, 5, 0xa1, 0xb2,
      0xc3, 0xd4, 0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77, 0x88, 1, 2, 3,    4,
      0,    0,    0x52, 0x08, 1,    2,    3,    3,    0xc0, 0,    0, 0};
  EXPECT_EQ(bytes, want);
  ProbeMessage back;
  ASSERT_EQ(parse(bytes, back), ProbeParseError::kNone);
  ASSERT_EQ(back.residence_count, 2U);
  EXPECT_EQ(back.residences[0], pong.residences[0]);
  EXPECT_EQ(back.residences[1], pong.residences[1]);
}

TEST(ProbePacket, RefusesPongsOfOtherLengths) {
  ProbeMessage pong;
  pong.type = ProbeType::kPong;
  pong.residence_count = kMaxResidences;
  ProbeMessage out;
  for (std::size_t length = 0; length <= kPongMaxBytes + 16; ++length) {
    auto bytes = bytesOf(pong, std::max(length, kPongMaxBytes));
    bytes.resize(length);
    if (length > 7) bytes[7] = static_cast<std::uint8_t>(length);
    const bool good = length >= kPongBytes && length <= kPongMaxBytes && length % 8 == 0;
    EXPECT_EQ(parse(bytes, out) == ProbeParseError::kNone, good) << length;
    if (length == kPongMaxBytes) {
      EXPECT_EQ(parseHead(std::span(bytes).first(48), length, out), ProbeParseError::kLength)
          << "the rest was cut off";
    }
  }
}

TEST(ProbePacket, NeverAnswersMoreThanItWasAsked) {
  EXPECT_GE(kPingMinBytes, kPongBytes + kAckBytes);
  EXPECT_LE(kPongMaxBytes - kPongBytes, kAckBytes) << "what is told costs no more than the ACK";
}

TEST(ProbePacket, RefusesEveryDamage) {
  ProbeMessage ping;
  ping.length = 56;
  const auto good = bytesOf(ping, 56);
  ProbeMessage out;
  ASSERT_EQ(parse(good, out), ProbeParseError::kNone);
  const auto with = [&](std::size_t at, std::uint8_t value) {
    auto bad = good;
    bad[at] = value;
    return parse(bad, out);
  };
  EXPECT_EQ(with(0, 0), ProbeParseError::kMagic);
  EXPECT_EQ(with(2, 9), ProbeParseError::kVersion);
  EXPECT_EQ(with(3, 0), ProbeParseError::kType);
  EXPECT_EQ(with(3, 4), ProbeParseError::kType);
  EXPECT_EQ(with(7, 55), ProbeParseError::kLength);
  EXPECT_EQ(parse({}, out), ProbeParseError::kShort);
  for (std::size_t length = 0; length < good.size(); ++length) {
    EXPECT_NE(parse(std::span(good).first(length), out), ProbeParseError::kNone) << length;
  }
  ping.length = 40;  // a PING smaller than its answers
  EXPECT_EQ(parse(bytesOf(ping, 40), out), ProbeParseError::kLength);
}

}  // namespace
}  // namespace pingloom::wire::probe_packet_test
