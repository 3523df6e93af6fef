#include "rdma/soft/packet.h"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <vector>

#include "captures.h"
#include "rdma/soft/icrc.h"
#include "rdma/soft/ipv4_datagram.h"

namespace pingloom::rdma::soft::packet_test {
namespace {

using Bytes = std::vector<std::uint8_t>;

Bytes written(const Packet& packet) {
  Bytes bytes(wireBytes(packet), 0xEE);
  EXPECT_EQ(write(packet, bytes), bytes.size());
  return bytes;
}

PacketError errorOf(std::span<const std::uint8_t> bytes) {
  Packet packet;
  return parse(bytes, packet);
}

TEST(Packet, KernelPacketsComeBackByteForByte) {
  std::map<Opcode, int> seen;
  for (const CapturedPacket& captured : capturedPackets()) {
    Ipv4Datagram datagram;
    ASSERT_EQ(parse(captured.ip, datagram), Ipv4Error::kNone) << captured.name;
    ASSERT_EQ(datagram.destination_port, kRoceUdpPort);
    Packet packet;
    ASSERT_EQ(parse(datagram.payload, packet), PacketError::kNone) << captured.name;
    ++seen[packet.bth.opcode];
    Bytes again = written(packet);
    datagram.flow().seal(again, datagram.identification);
    EXPECT_EQ(again, Bytes(datagram.payload.begin(), datagram.payload.end())) << captured.name;
  }
  const std::map<Opcode, int> want = {
      {Opcode::kUdSendOnly, 6},          {Opcode::kRcReadRequest, 5},
      {Opcode::kRcReadResponseFirst, 5}, {Opcode::kRcReadResponseMiddle, 10},
      {Opcode::kRcReadResponseLast, 5},  {Opcode::kRcWriteFirst, 10},
      {Opcode::kRcWriteMiddle, 20},      {Opcode::kRcWriteLast, 10},
      {Opcode::kRcAcknowledge, 10},      {Opcode::kRcFetchAdd, 5},
      {Opcode::kRcAtomicAcknowledge, 5}};
  EXPECT_EQ(seen, want);
}

Packet packetOf(const char* capture) {
  Packet packet;
  for (const CapturedPacket& captured : capturedPackets()) {
    if (captured.name != capture) continue;
    Ipv4Datagram datagram;
    EXPECT_EQ(parse(captured.ip, datagram), Ipv4Error::kNone);
    EXPECT_EQ(parse(datagram.payload, packet), PacketError::kNone);
    return packet;
  }
  ADD_FAILURE() << "no packet " << capture;
  return packet;
}

TEST(Packet, KernelFieldsAreReadWhereTheyLie) {
  const Packet send = packetOf("rxe-ud-send.pcap #1");
  EXPECT_EQ(send.bth.p_key, 0xFFFF);
  EXPECT_EQ(send.bth.destination_qpn, 0x11U);
  EXPECT_EQ(send.bth.psn, 0x42A9CEU);
  EXPECT_FALSE(send.bth.ack_request);
  EXPECT_EQ(send.deth.q_key, 0x11111111U);
  EXPECT_EQ(send.deth.source_qpn, 0x11U);
  EXPECT_EQ(send.payload.size(), 64U);

  const Packet request = packetOf("rxe-rc-read.pcap #1");
  EXPECT_TRUE(request.bth.ack_request);
  EXPECT_EQ(request.bth.psn, 0x722831U);
  EXPECT_EQ(request.reth.address, 0x000056037E520000U);
  EXPECT_EQ(request.reth.rkey, 0x37FU);
  EXPECT_EQ(request.reth.length, 4000U);

  const Packet response = packetOf("rxe-rc-read.pcap #2");
  EXPECT_EQ(response.aeth.syndrome, 0x1F);
  EXPECT_EQ(response.aeth.msn, 1U);
  EXPECT_EQ(response.payload.size(), 1024U);

  const Packet fetch_add = packetOf("rxe-rc-atomic.pcap #1");
  EXPECT_EQ(fetch_add.atomic.address, 0x0000556C0B4C5000U);
  EXPECT_EQ(fetch_add.atomic.rkey, 0x531U);
  EXPECT_EQ(fetch_add.atomic.swap_or_add, 1U);
  EXPECT_EQ(fetch_add.atomic.compare, 0U);
  EXPECT_EQ(packetOf("rxe-rc-atomic.pcap #2").atomic_original, 0x69A55A27A3430746U);
}

TEST(Packet, UdSendWithImmediateHasTheStandardsBytes) {
  const Bytes payload = {1, 2, 3, 4, 5};
  Packet packet;
  packet.bth = {.opcode = Opcode::kUdSendOnlyImmediate,
                .solicited = true,
                .migration_done = true,
                .fecn = true,
                .becn = true,
                .ack_request = true,
                .p_key = 0x8001,
                .destination_qpn = 0xABCDEF,
                .psn = 0x123456};
  packet.deth = {0x11223344, 0x556677};
  packet.immediate = 0xCAFEF00D;
  packet.payload = payload;
  const Bytes want = {0x65, 0xF0, 0x80, 0x01, 0xC0, 0xAB, 0xCD, 0xEF, 0x80, 0x12, 0x34, 0x56,
                      0x11, 0x22, 0x33, 0x44, 0x00, 0x55, 0x66, 0x77, 0xCA, 0xFE, 0xF0, 0x0D,
                      1,    2,    3,    4,    5,    0,    0,    0,    0xEE, 0xEE, 0xEE, 0xEE};
  EXPECT_EQ(written(packet), want);
  EXPECT_EQ(headerBytes(packet.bth.opcode), 24U);

  Packet back;
  ASSERT_EQ(parse(want, back), PacketError::kNone);
  EXPECT_TRUE(back.bth.solicited && back.bth.migration_done && back.bth.fecn && back.bth.becn &&
              back.bth.ack_request);
  EXPECT_EQ(back.immediate, 0xCAFEF00DU);
  EXPECT_EQ(Bytes(back.payload.begin(), back.payload.end()), payload);
}

TEST(Packet, AFieldTooWideForTheWireDoesNotReachItsNeighbour) {
  Packet packet;
  packet.bth.destination_qpn = 0xFF000001;
  packet.bth.psn = 0xFF000002;
  packet.deth.source_qpn = 0xFF000003;
  Packet back;
  ASSERT_EQ(parse(written(packet), back), PacketError::kNone);
  EXPECT_EQ(back.bth.destination_qpn, 1U);
  EXPECT_EQ(back.bth.psn, 2U);
  EXPECT_FALSE(back.bth.fecn || back.bth.becn || back.bth.ack_request);
  EXPECT_EQ(back.deth.source_qpn, 3U);
}

TEST(Packet, ThePayloadMayAlreadyLieInItsPlace) {
  Bytes buffer(64, 0);
  Packet packet;
  const std::size_t at = headerBytes(packet.bth.opcode);
  for (std::size_t i = 0; i < 7; ++i) buffer[at + i] = static_cast<std::uint8_t>(i + 1);
  packet.payload = std::span(buffer).subspan(at, 7);
  ASSERT_EQ(write(packet, buffer), at + 8 + kIcrcBytes);
  EXPECT_EQ(buffer[at + 6], 7);
  EXPECT_EQ(buffer[1] >> 4 & 3, 1);
}

TEST(Packet, PeeksAtWritesOnly) {
  const Bytes payload(8, 1);
  Packet packet;
  packet.bth.destination_qpn = 0x123456;
  packet.bth.fecn = true;
  packet.reth = {0x1122334455667788, 0x99AABBCC, 8};
  packet.payload = payload;
  for (const Opcode opcode : {Opcode::kRcWriteOnly, Opcode::kRcWriteFirst}) {
    packet.bth.opcode = opcode;
    const auto bytes = written(packet);
    const auto write = peekWrite(bytes);
    ASSERT_TRUE(write);
    EXPECT_EQ(write->destination_qpn, 0x123456U);
    EXPECT_EQ(write->reth.address, 0x1122334455667788U);
    EXPECT_EQ(write->reth.rkey, 0x99AABBCCU);
    EXPECT_EQ(write->reth.length, 8U);
    EXPECT_FALSE(peekWrite(std::span(bytes).first(27)));
  }
  EXPECT_FALSE(peekWrite({}));
  packet.bth.opcode = Opcode::kRcWriteMiddle;
  EXPECT_FALSE(peekWrite(written(packet)));
}

TEST(Packet, IgnoresReservedBitsAndTakesAnUnpaddedPayload) {
  const Bytes payload = {9, 8, 7};
  Packet packet;
  packet.payload = payload;
  Bytes bytes = written(packet);
  bytes[4] |= 0x3F;  // reserved beside FECN and BECN
  bytes[8] |= 0x7F;  // reserved beside the acknowledge request
  bytes[16] = 0x55;  // reserved beside the source QPN
  bytes[1] = 0;      // "no padding": the padding byte is payload then
  Packet back;
  ASSERT_EQ(parse(bytes, back), PacketError::kNone);
  EXPECT_EQ(back.payload.size(), 4U);
  EXPECT_FALSE(back.bth.fecn || back.bth.ack_request);
  EXPECT_EQ(back.deth.source_qpn, 0U);
  bytes.erase(bytes.end() - 5);
  ASSERT_EQ(parse(bytes, back), PacketError::kNone);
  EXPECT_EQ(back.payload.size(), 3U);
}

TEST(Packet, RefusesEveryCutOfEveryKernelPacket) {
  for (const CapturedPacket& captured : capturedPackets()) {
    Ipv4Datagram datagram;
    ASSERT_EQ(parse(captured.ip, datagram), Ipv4Error::kNone);
    Packet whole;
    ASSERT_EQ(parse(datagram.payload, whole), PacketError::kNone);
    const std::size_t least = headerBytes(whole.bth.opcode) + kIcrcBytes;
    for (std::size_t length = 0; length < least; ++length) {
      // A copy of exactly this size: the address sanitizer sees a read past it.
      const Bytes cut(datagram.payload.begin(),
                      datagram.payload.begin() + static_cast<std::ptrdiff_t>(length));
      EXPECT_EQ(errorOf(cut), PacketError::kShort) << captured.name << " cut to " << length;
    }
  }
}

TEST(Packet, RefusesWithTheReason) {
  const Bytes payload(8, 1);
  Packet packet;
  packet.payload = payload;
  const Bytes good = written(packet);
  ASSERT_EQ(errorOf(good), PacketError::kNone);
  const auto with = [&](std::size_t at, std::uint8_t value) {
    Bytes bad = good;
    bad[at] = value;
    return errorOf(bad);
  };
  EXPECT_EQ(with(1, 0x01), PacketError::kVersion);
  EXPECT_EQ(with(0, 0x16), PacketError::kOpcode) << "RC SEND LAST with invalidate";
  EXPECT_EQ(with(0, 0xFF), PacketError::kOpcode);
  EXPECT_EQ(with(0, 0x11), PacketError::kPayload) << "an acknowledge with a payload";
  EXPECT_EQ(with(0, 0x0E), PacketError::kNone);
  Bytes middle = good;
  middle[0] = 0x0E;
  middle[1] = 0x10;
  EXPECT_EQ(errorOf(middle), PacketError::kPad) << "a Middle is whole";
  middle = good;
  middle[0] = 0x0E;
  middle.pop_back();
  EXPECT_EQ(errorOf(middle), PacketError::kPad) << "no path MTU has such a size";
  middle.resize(kMinPacketBytes);
  EXPECT_EQ(errorOf(middle), PacketError::kPayload) << "an empty Middle";

  Packet empty;
  Bytes padded = written(empty);
  padded[1] = 0x30;
  EXPECT_EQ(errorOf(padded), PacketError::kPad) << "more padding than payload";

  const Bytes largest(kMaxPayloadBytes, 1);
  packet.payload = largest;
  Bytes bytes = written(packet);
  EXPECT_EQ(errorOf(bytes), PacketError::kNone);
  bytes.insert(bytes.end(), 4, 0);
  EXPECT_EQ(errorOf(bytes), PacketError::kLong);
  EXPECT_EQ(reasonOf(PacketError::kLong), "long");
}

// A responder has to see a malformed request, because its peer waits for an answer.
TEST(Packet, MalformedRequestsAreParsed) {
  const Bytes payload(13, 1);
  Packet request;
  request.bth.opcode = Opcode::kRcWriteOnly;
  request.payload = payload;
  const Bytes good = written(request);
  const auto isMalformed = [](const Bytes& bytes) {
    Packet packet;
    EXPECT_EQ(parse(bytes, packet), PacketError::kNone);
    return packet.malformed;
  };
  EXPECT_FALSE(isMalformed(good));
  Bytes unpadded(good.begin(), good.end() - 3);
  unpadded[1] &= 0xCF;
  EXPECT_TRUE(isMalformed(unpadded)) << "no multiple of four";
  request.bth.opcode = Opcode::kRcReadRequest;
  request.payload = {};
  Bytes read = written(request);
  EXPECT_FALSE(isMalformed(read));
  read.push_back(0);
  EXPECT_TRUE(isMalformed(read)) << "with a payload";
  const Bytes above(kMaxPayloadBytes + 4, 1);
  request.bth.opcode = Opcode::kRcWriteOnly;
  Bytes longest = written(request);
  longest.insert(longest.end(), above.begin(), above.end());
  EXPECT_TRUE(isMalformed(longest)) << "above the largest path MTU";
}

// Whatever bytes come: no read outside them (under the address sanitizer), and what parses and
// is well formed is written back the same, reserved bits and padding aside.
TEST(Packet, NoiseIsRefusedOrComesBack) {
  std::mt19937 random(7);
  int parsed = 0;
  for (int round = 0; round < 200'000; ++round) {
    Bytes noise(random() % 80);
    for (auto& byte : noise) byte = static_cast<std::uint8_t>(random());
    if (noise.size() > 1) noise[1] &= 0xF0;
    Packet packet;
    if (parse(noise, packet) != PacketError::kNone) continue;
    ++parsed;
    ASSERT_LE(packet.payload.size(), noise.size());
    if (packet.malformed) continue;
    const Bytes once = written(packet);
    Packet again;
    ASSERT_EQ(parse(once, again), PacketError::kNone);
    ASSERT_EQ(written(again), once);
  }
  EXPECT_GT(parsed, 1'000);
}

}  // namespace
}  // namespace pingloom::rdma::soft::packet_test
