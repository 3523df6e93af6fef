#include "http/target.h"

#include <gmock/gmock.h>

namespace pingloom::http::target_test {
namespace {

TEST(Target, PathAndQueryAreDecoded) {
  const auto target = parseTarget("/api/v1/grid?probe=rack%201&metric=network_p50&x=a+b&flag");
  ASSERT_TRUE(target) << target.error().text();
  EXPECT_EQ(target->path, "/api/v1/grid");
  EXPECT_EQ(target->query.at("probe"), "rack 1");
  EXPECT_EQ(target->query.at("metric"), "network_p50");
  EXPECT_EQ(target->query.at("x"), "a b");
  EXPECT_EQ(target->query.at("flag"), "");
}

TEST(Target, ADoubledParameterIsTold) {
  EXPECT_EQ(parseTarget("/?a=1&b=2&&")->doubled, "");
  const auto target = parseTarget("/?m%65tric=a&b=1&metric=b");
  EXPECT_EQ(target->doubled, "metric");
  EXPECT_EQ(target->query.at("metric"), "b");
}

TEST(Target, Ipv6InAPath) {
  const auto target = parseTarget("/api/v1/pairs/udp/fd00%3A%3A1/fd00::2");
  ASSERT_TRUE(target);
  EXPECT_EQ(target->path, "/api/v1/pairs/udp/fd00::1/fd00::2");
}

TEST(Target, APlusInAPathStaysAPlus) { EXPECT_EQ(parseTarget("/a+b")->path, "/a+b"); }

class BadTarget : public testing::TestWithParam<std::string> {};

TEST_P(BadTarget, IsRefused) { EXPECT_FALSE(parseTarget(GetParam())); }

INSTANTIATE_TEST_SUITE_P(Table, BadTarget,
                         testing::Values("", "api", "*", "http://host/", "/../etc/passwd",
                                         "/a/../b", "/a/./b", "/%2e%2e/etc/passwd", "/a%2f..%2fb",
                                         "/a%5cb", "/a%00b", "/a%0ab", "/a%7fb", "/a%", "/a%4",
                                         "/a%zz", "/?a=%", "/?a=%f", "/?%zz=1"));

TEST(Target, ParametersAreBounded) {
  std::string target = "/?";
  for (int i = 0; i < 65; ++i) target += "p" + std::to_string(i) + "=1&";
  EXPECT_FALSE(parseTarget(target));
}

}  // namespace
}  // namespace pingloom::http::target_test
