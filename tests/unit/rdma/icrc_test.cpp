#include "rdma/soft/icrc.h"

#include <gtest/gtest.h>

#include <vector>

#include "captures.h"
#include "rdma/soft/ipv4_datagram.h"
#include "rdma/soft/packet.h"

namespace pingloom::rdma::soft::icrc_test {
namespace {

using Bytes = std::vector<std::uint8_t>;

// The definition, bit by bit.
std::uint32_t plainCrc32(const Bytes& bytes) {
  std::uint32_t crc = ~0U;
  for (const std::uint8_t byte : bytes) {
    crc ^= byte;
    for (int bit = 0; bit < 8; ++bit) crc = (crc & 1) != 0 ? crc >> 1 ^ 0xEDB88320 : crc >> 1;
  }
  return ~crc;
}

bool accepts(std::span<const std::uint8_t> ip) {
  Ipv4Datagram datagram;
  if (parse(ip, datagram) != Ipv4Error::kNone) return false;
  Packet packet;
  if (parse(datagram.payload, packet) != PacketError::kNone) return false;
  return datagram.flow().compute(datagram.payload, datagram.identification) ==
         receivedIcrc(datagram.payload);
}

TEST(Icrc, OfEveryKernelPacketIsTheKernels) {
  ASSERT_EQ(capturedPackets().size(), 91U);
  for (const CapturedPacket& captured : capturedPackets()) {
    EXPECT_TRUE(accepts(captured.ip)) << captured.name;
  }
}

// What a router may change is not covered; everything else is.
TEST(Icrc, RefusesEveryFlippedBitThatItCovers) {
  const auto masked = [](std::size_t byte) {
    const bool ip = byte == 1 || byte == 8 || byte == 10 || byte == 11;
    const bool udp_checksum = byte == 26 || byte == 27;
    return ip || udp_checksum || byte == 28 + 4;
  };
  for (const CapturedPacket& captured : capturedPackets()) {
    Bytes bytes = captured.ip;
    for (std::size_t bit = 0; bit < bytes.size() * 8; ++bit) {
      const auto flip = static_cast<std::uint8_t>(1 << bit % 8);
      bytes[bit / 8] ^= flip;
      ASSERT_EQ(accepts(bytes), masked(bit / 8)) << captured.name << " bit " << bit;
      bytes[bit / 8] ^= flip;
    }
  }
}

TEST(Icrc, OfAnIpv6PacketFollowsTheDefinition) {
  const auto source = IpAddress::parse("fd00::1").value();
  const auto destination = IpAddress::parse("fd00:0:0:7::2").value();
  const Bytes payload = {'h', 'e', 'l', 'l', 'o'};
  Packet packet;
  packet.bth.destination_qpn = 0x17;
  packet.deth = {0x11111111, 0x18};
  packet.payload = payload;
  Bytes bytes(wireBytes(packet));
  write(packet, bytes);

  Bytes covered(8, 0xFF);
  const auto append = [&covered](const Bytes& more) {
    covered.insert(covered.end(), more.begin(), more.end());
  };
  append({0x6F, 0xFF, 0xFF, 0xFF, 0, 40, 17, 0xFF});
  append(Bytes(source.bytes().begin(), source.bytes().end()));
  append(Bytes(destination.bytes().begin(), destination.bytes().end()));
  append({0xC0, 0x01, 0x12, 0xB7, 0, 40, 0xFF, 0xFF});
  Bytes body(bytes.begin(), bytes.end() - 4);
  body[4] = 0xFF;
  append(body);
  const IcrcFlow flow(source, 0xC001, destination, kRoceUdpPort);
  EXPECT_EQ(flow.compute(bytes), plainCrc32(covered));
  EXPECT_EQ(flow.compute(bytes, {.id = 7, .flags_offset = 0}), plainCrc32(covered))
      << "IPv6 has no ID";
}

TEST(Icrc, OfIpv4PacketsOfEverySizeFollowsTheDefinition) {
  const IcrcFlow flow(IpAddress::fromV4(0x0A000001), 0xC001, IpAddress::fromV4(0x0A000702),
                      kRoceUdpPort);
  const auto high = [](std::size_t value) { return static_cast<std::uint8_t>(value >> 8); };
  const auto low = [](std::size_t value) { return static_cast<std::uint8_t>(value); };
  Bytes bytes(kMaxPacketBytes);
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::uint8_t>(i * 73 + 5);
  for (std::size_t size = kMinPacketBytes; size <= kMaxPacketBytes; size += size < 600 ? 1 : 53) {
    const std::size_t udp = size + 8;
    const std::size_t ip = udp + 20;
    Bytes covered(8, 0xFF);
    const Bytes headers = {0x45, 0xFF, high(ip), low(ip), 0x12,      0x34,     0x20, 0x07, 0xFF, 17,
                           0xFF, 0xFF, 10,       0,       0,         1,        10,   0,    7,    2,
                           0xC0, 0x01, 0x12,     0xB7,    high(udp), low(udp), 0xFF, 0xFF};
    covered.insert(covered.end(), headers.begin(), headers.end());
    covered.insert(covered.end(), bytes.begin(),
                   bytes.begin() + static_cast<std::ptrdiff_t>(size - kIcrcBytes));
    covered[8 + headers.size() + 4] = 0xFF;
    ASSERT_EQ(flow.compute(std::span(bytes).first(size), {.id = 0x1234, .flags_offset = 0x2007}),
              plainCrc32(covered))
        << size;
  }
}

// The headers of an IPv6 packet lie where IPv4's do not; a raw socket is not needed for them.
TEST(Icrc, OfEveryKernelIpv6PacketIsTheKernels) {
  ASSERT_EQ(capturedIpv6Packets().size(), 6U);
  for (const CapturedPacket& captured : capturedIpv6Packets()) {
    const std::uint8_t* ip = captured.ip.data();
    const auto source = IpAddress::fromBytes16(ip + 8);
    const auto destination = IpAddress::fromBytes16(ip + 24);
    const auto source_port = static_cast<std::uint16_t>(ip[40] << 8 | ip[41]);
    const IcrcFlow flow(source, source_port, destination, kRoceUdpPort);
    const Bytes payload(captured.ip.begin() + 48, captured.ip.end());
    EXPECT_EQ(flow.compute(payload), receivedIcrc(payload)) << captured.name;

    Packet packet;
    ASSERT_EQ(parse(payload, packet), PacketError::kNone) << captured.name;
    EXPECT_EQ(packet.payload.size(), 61U);
    Bytes again(wireBytes(packet));
    write(packet, again);
    flow.seal(again);
    EXPECT_EQ(again, payload) << captured.name;
    for (std::size_t bit = 0; bit < payload.size() * 8; ++bit) {
      Bytes damaged = payload;
      damaged[bit / 8] ^= static_cast<std::uint8_t>(1 << bit % 8);
      ASSERT_EQ(flow.compute(damaged) == receivedIcrc(damaged), bit / 8 == 4) << bit;
    }
  }
}

TEST(Icrc, IsLittleEndianAtTheEnd) {
  Packet packet;
  Bytes bytes(wireBytes(packet));
  write(packet, bytes);
  const IcrcFlow flow(IpAddress::fromV4(1), 2, IpAddress::fromV4(3), 4);
  flow.seal(bytes);
  const std::uint32_t icrc = flow.compute(bytes);
  EXPECT_EQ(receivedIcrc(bytes), icrc);
  EXPECT_EQ(bytes[bytes.size() - 4], icrc & 0xFF);
  EXPECT_EQ(bytes.back(), icrc >> 24);
}

TEST(Icrc, CoversIdAndFlagsOfIpv4) {
  Packet packet;
  Bytes bytes(wireBytes(packet));
  write(packet, bytes);
  const IcrcFlow flow(IpAddress::fromV4(1), 2, IpAddress::fromV4(3), 4);
  EXPECT_EQ(flow.compute(bytes), flow.compute(bytes, {.id = 0, .flags_offset = 0x4000}));
  EXPECT_NE(flow.compute(bytes), flow.compute(bytes, {.id = 1, .flags_offset = 0x4000}));
  EXPECT_NE(flow.compute(bytes), flow.compute(bytes, {.id = 0, .flags_offset = 0}));
}

}  // namespace
}  // namespace pingloom::rdma::soft::icrc_test
