#include <gtest/gtest.h>

#include "cli/redis_reader.h"

namespace pingloom::cli::redis_target_test {
namespace {

TEST(RedisTarget, forms) {
  EXPECT_EQ(parseRedisTarget("unix:/run/redis/redis.sock")->socket, "/run/redis/redis.sock");
  const auto named = parseRedisTarget("tcp:redis.example:6379");
  ASSERT_TRUE(named.has_value());
  EXPECT_EQ(named->host, "redis.example");
  EXPECT_EQ(named->port, 6379);
  const auto v6 = parseRedisTarget("tcp:[fd00::1]:6380");
  ASSERT_TRUE(v6.has_value());
  EXPECT_EQ(v6->host, "fd00::1");
  EXPECT_EQ(v6->text(), "tcp:[fd00::1]:6380");
}

TEST(RedisTarget, refused) {
  for (const char* bad : {"", "unix:", "unix:/", "unix:relative", "tcp:", "tcp:host", "tcp::6379",
                          "tcp:host:0", "tcp:host:65536", "tcp:host:x", "redis://host", "/path"}) {
    EXPECT_FALSE(parseRedisTarget(bad).has_value()) << bad;
  }
}

TEST(RedisReader, sayWhatToDoWhenNothingListens) {
  const auto reader =
      RedisReader::connect(*parseRedisTarget("unix:/nonexistent/redis.sock"), {}, kSecond);
  ASSERT_FALSE(reader.has_value());
  EXPECT_NE(reader.error().text().find("PINGLOOM_REDIS"), std::string::npos);
}

}  // namespace
}  // namespace pingloom::cli::redis_target_test
