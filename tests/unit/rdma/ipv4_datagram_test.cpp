#include "rdma/soft/ipv4_datagram.h"

#include <gtest/gtest.h>

#include <vector>

#include "captures.h"

namespace pingloom::rdma::soft::ipv4_datagram_test {
namespace {

using Bytes = std::vector<std::uint8_t>;

const Bytes& sample() { return capturedPackets().front().ip; }

Ipv4Error errorWith(std::size_t at, std::uint8_t value) {
  Bytes bytes = sample();
  bytes[at] = value;
  Ipv4Datagram datagram;
  return parse(bytes, datagram);
}

TEST(Ipv4Datagram, ReadsTheKernelsHeaders) {
  Ipv4Datagram datagram;
  Bytes bytes = sample();
  bytes.insert(bytes.end(), 6, 0);  // Ethernet padding
  ASSERT_EQ(parse(bytes, datagram), Ipv4Error::kNone);
  EXPECT_EQ(datagram.source.text(), "10.0.0.2");
  EXPECT_EQ(datagram.destination.text(), "10.0.0.1");
  EXPECT_EQ(datagram.source_port, 0xDF94);
  EXPECT_EQ(datagram.destination_port, 4791);
  EXPECT_EQ(datagram.identification.id, 0x1AC5);
  EXPECT_EQ(datagram.identification.flags_offset, 0x4000);
  EXPECT_EQ(datagram.payload.size(), 88U);
}

TEST(Ipv4Datagram, RefusesWithTheReason) {
  EXPECT_EQ(errorWith(0, 0x65), Ipv4Error::kVersion);
  EXPECT_EQ(errorWith(0, 0x46), Ipv4Error::kOptions);
  EXPECT_EQ(errorWith(0, 0x44), Ipv4Error::kOptions);
  EXPECT_EQ(errorWith(9, 6), Ipv4Error::kProtocol);
  EXPECT_EQ(errorWith(6, 0x20), Ipv4Error::kFragment);
  EXPECT_EQ(errorWith(7, 0x01), Ipv4Error::kFragment);
  EXPECT_EQ(errorWith(3, 0xFF), Ipv4Error::kShort) << "claims more than there is";
  EXPECT_EQ(errorWith(3, 20), Ipv4Error::kLength);
  EXPECT_EQ(errorWith(25, 7), Ipv4Error::kLength) << "a UDP length below its header";
  EXPECT_EQ(errorWith(24, 0xFF), Ipv4Error::kLength);
  for (std::size_t length = 0; length < sample().size(); ++length) {
    const Bytes cut(sample().begin(), sample().begin() + static_cast<std::ptrdiff_t>(length));
    Ipv4Datagram datagram;
    EXPECT_EQ(parse(cut, datagram), Ipv4Error::kShort) << length;
  }
  EXPECT_EQ(reasonOf(Ipv4Error::kFragment), "fragment");
}

}  // namespace
}  // namespace pingloom::rdma::soft::ipv4_datagram_test
