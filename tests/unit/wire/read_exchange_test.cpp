#include "wire/read_exchange.h"

#include <gtest/gtest.h>

#include <vector>

namespace pingloom::wire::read_exchange_test {
namespace {

ReadExchange answer() {
  ReadExchange made;
  made.type = ReadExchangeType::kAnswer;
  made.reads = 16;
  made.lid = 7;
  made.qpn = 0x123456;
  made.gid[15] = 9;
  made.psn = 0xABCDEF;
  made.mtu = 1024;
  made.address = 0x1122334455667788;
  made.length = 0x100000;
  made.pattern = 0x99AABBCCDDEEFF00;
  made.rkey = 0x7BCDEF01;
  made.text = "mlx5_0";
  return made;
}

// The example of docs/read-exchange.md.
TEST(ReadExchange, HasTheDocumentedBytes) {
  const auto bytes = bytesOf(answer());
  const std::vector<std::uint8_t> start = {0x50, 0x4C, 0x52, 0x44, 1, 2,    0,    16,
                                           0,    7,    0,    0,    0, 0x12, 0x34, 0x56};
  EXPECT_EQ(std::vector<std::uint8_t>(bytes.begin(), bytes.begin() + 16), start);
  const std::vector<std::uint8_t> middle = {9,    0,    0xAB, 0xCD, 0xEF, 0,    0,    4,   0,
                                            0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77, 0x88};
  EXPECT_EQ(std::vector<std::uint8_t>(bytes.begin() + 31, bytes.begin() + 48), middle);
  EXPECT_EQ(bytes[64], 0x7B);
  EXPECT_EQ(bytes[72], 'm');
  ReadExchange back;
  ASSERT_EQ(parse(bytes, back), ReadExchangeParse::kOk);
  EXPECT_EQ(bytesOf(back), bytes);
  EXPECT_EQ(back.text, "mlx5_0");
  EXPECT_EQ(back.length, 0x100000U);
}

TEST(ReadExchange, RefusesEveryDamage) {
  const auto good = bytesOf(answer());
  ReadExchange out;
  for (const std::size_t at : {0, 1, 2, 3, 5, 6}) {
    auto bad = good;
    bad[at] = 0x77;
    EXPECT_EQ(parse(bad, out), ReadExchangeParse::kNone) << at;
  }
  auto later = good;
  later[4] = 2;
  EXPECT_EQ(parse(later, out), ReadExchangeParse::kVersion);
  EXPECT_EQ(parse(std::span(good).first(127), out), ReadExchangeParse::kNone);
  EXPECT_EQ(parse({}, out), ReadExchangeParse::kNone);
}

TEST(ReadExchange, NumbersOf24BitsStayThat) {
  auto bytes = bytesOf(answer());
  bytes[12] = bytes[32] = 0xFF;
  ReadExchange out;
  ASSERT_EQ(parse(bytes, out), ReadExchangeParse::kOk);
  EXPECT_EQ(out.qpn, 0x123456U);
  EXPECT_EQ(out.psn, 0xABCDEFU);
}

TEST(ReadExchange, CutsOffALongText) {
  ReadExchange long_one = answer();
  long_one.text = std::string(100, 'x');
  ReadExchange back;
  ASSERT_EQ(parse(bytesOf(long_one), back), ReadExchangeParse::kOk);
  EXPECT_EQ(back.text, std::string(56, 'x'));
}

TEST(ReadExchange, RegionNames) {
  for (const char* good : {"test", "a", "metric-page_1.2"}) EXPECT_TRUE(isRegionName(good)) << good;
  for (const char* bad : {"", "Test", "a b", "a/b", "\xC3\xA4"}) EXPECT_FALSE(isRegionName(bad));
  EXPECT_TRUE(isRegionName(std::string(32, 'a')));
  EXPECT_FALSE(isRegionName(std::string(33, 'a')));
}

}  // namespace
}  // namespace pingloom::wire::read_exchange_test
