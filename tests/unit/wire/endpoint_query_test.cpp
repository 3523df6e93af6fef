#include "wire/endpoint_query.h"

#include <gtest/gtest.h>

#include <vector>

namespace pingloom::wire::endpoint_query_test {
namespace {

EndpointQuery answer() {
  EndpointQuery made;
  made.type = EndpointQueryType::kAnswer;
  made.nonce = 0x1122334455667788;
  made.clock = 2;
  made.lid = 7;
  made.gid[15] = 9;
  made.qpn = 0x123456;
  made.q_key = 0x7BCDEF01;
  made.device = "mlx5_0";
  return made;
}

// The example of docs/probe-packets.md.
TEST(EndpointQuery, HasTheDocumentedBytes) {
  const auto bytes = bytesOf(answer());
  const std::vector<std::uint8_t> want = {0x50, 0x51, 1,    2,    2,    0,    0,    7,
                                          0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77, 0x88};
  EXPECT_EQ(std::vector<std::uint8_t>(bytes.begin(), bytes.begin() + 16), want);
  EXPECT_EQ(bytes[31], 9);
  EXPECT_EQ(bytes[33], 0x12);
  EXPECT_EQ(bytes[40], 'm');
  EndpointQuery back;
  ASSERT_TRUE(parse(bytes, back));
  EXPECT_EQ(back.type, EndpointQueryType::kAnswer);
  EXPECT_EQ(back.nonce, answer().nonce);
  EXPECT_EQ(back.lid, 7);
  EXPECT_EQ(back.qpn, 0x123456U);
  EXPECT_EQ(back.q_key, 0x7BCDEF01U);
  EXPECT_EQ(back.device, "mlx5_0");
}

TEST(EndpointQuery, RefusesEveryDamage) {
  const auto good = bytesOf(answer());
  EndpointQuery out;
  for (const std::size_t at : {0, 1, 2, 3}) {
    auto bad = good;
    bad[at] = 0x77;
    EXPECT_FALSE(parse(bad, out)) << at;
  }
  EXPECT_FALSE(parse(std::span(good).first(63), out));
  EXPECT_FALSE(parse({}, out));
}

TEST(EndpointQuery, CutsOffALongName) {
  EndpointQuery query = answer();
  query.device = std::string(40, 'x');
  EndpointQuery back;
  ASSERT_TRUE(parse(bytesOf(query), back));
  EXPECT_EQ(back.device, std::string(24, 'x'));
}

}  // namespace
}  // namespace pingloom::wire::endpoint_query_test
