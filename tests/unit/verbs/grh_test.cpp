#include "rdma/verbs/grh.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>

namespace pingloom::rdma::verbs::grh_test {
namespace {

using Area = std::array<std::uint8_t, kGrhBytes>;

// 10.0.0.1 to 10.0.0.2, TOS 106; the checksum was computed by hand.
constexpr std::array<std::uint8_t, 20> kV4 = {0x45, 0x6A, 0x00, 0x54, 0x00, 0x00, 0x40,
                                              0x00, 0x40, 0x11, 0x26, 0x2D, 10,   0,
                                              0,    1,    10,   0,    0,    2};

Area withV4(std::uint8_t before) {
  Area area;
  area.fill(before);
  std::copy(kV4.begin(), kV4.end(), area.begin() + 20);
  return area;
}

TEST(GrhTest, IPv4WhateverLiesBeforeIt) {
  // 0x66 looks like the beginning of an IPv6 header: there the checksum decides.
  for (const std::uint8_t before : {0x00, 0xFF, 0x45, 0x66}) {
    const auto fields = parseGrh(withV4(before));
    ASSERT_TRUE(fields);
    EXPECT_EQ(fields->source.address().text(), "10.0.0.1");
    EXPECT_EQ(fields->traffic_class, 106);
    EXPECT_EQ(fields->flow_label, 0U);
  }
}

TEST(GrhTest, IPv6WhoseAddressLooksLikeAnIPv4Header) {
  Area area{};
  area[0] = 0x66;
  area[1] = 0xA5;
  area[2] = 0x43;
  area[3] = 0x21;
  area[8] = 0xFD;
  area[20] = 0x45;  // a byte of the source address
  const auto fields = parseGrh(area);
  ASSERT_TRUE(fields);
  EXPECT_EQ(fields->source.bytes[0], 0xFD);
  EXPECT_EQ(fields->source.bytes[12], 0x45);
  EXPECT_EQ(fields->traffic_class, 0x6A);
  EXPECT_EQ(fields->flow_label, 0x54321U);
}

TEST(GrhTest, NeitherIsNone) {
  EXPECT_FALSE(parseGrh(Area{}));
  Area options = withV4(0);
  options[20] = 0x46;  // RoCE's IPv4 header has no options
  EXPECT_FALSE(parseGrh(options));
}

}  // namespace
}  // namespace pingloom::rdma::verbs::grh_test
