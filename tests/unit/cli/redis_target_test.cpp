#include <gtest/gtest.h>

#include "cli/redis_options.h"
#include "cli/redis_reader.h"

namespace pingloom::cli::redis_target_test {
namespace {

using Kind = controller::RedisTarget::Kind;

TEST(RedisTarget, forms) {
  const auto socket = parseRedisTarget("unix:/run/redis/redis.sock");
  ASSERT_TRUE(socket.has_value());
  EXPECT_EQ(socket->path, "/run/redis/redis.sock");
  EXPECT_EQ(socket->kind, Kind::kUnix);
  const auto named = parseRedisTarget("tcp:redis.example:6379");
  ASSERT_TRUE(named.has_value());
  EXPECT_EQ(named->host, "redis.example");
  EXPECT_EQ(named->port, 6379);
  EXPECT_EQ(named->kind, Kind::kTcp);
  const auto v6 = parseRedisTarget("tcp:[fd00::1]:6380");
  ASSERT_TRUE(v6.has_value());
  EXPECT_EQ(v6->host, "fd00::1");
  EXPECT_EQ(v6->text(), "tcp:[fd00::1]:6380");
  const auto sentinel = parseRedisTarget("sentinel:main@s1:26379,[fd00::1]:2");
  ASSERT_TRUE(sentinel.has_value());
  EXPECT_EQ(sentinel->text(), "sentinel:main");
  ASSERT_EQ(sentinel->servers.size(), 2U);
  EXPECT_EQ(sentinel->servers[1].text(), "[fd00::1]:2");
  const auto cluster = parseRedisTarget("cluster:a:1,b:2");
  ASSERT_TRUE(cluster.has_value());
  EXPECT_EQ(cluster->kind, Kind::kCluster);
  EXPECT_EQ(cluster->servers.size(), 2U);
}

TEST(RedisTarget, refused) {
  std::string many = "cluster:a:1";
  for (int i = 0; i < 16; ++i) many += ",a:1";
  for (const std::string& bad :
       {std::string(), std::string("unix:"), std::string("unix:/"), std::string("unix:relative"),
        std::string("tcp:"), std::string("tcp:host"), std::string("tcp::6379"),
        std::string("tcp:host:0"), std::string("tcp:host:65536"), std::string("tcp:host:x"),
        std::string("redis://host"), std::string("/path"), std::string("sentinel:a:1"),
        std::string("sentinel:@a:1"), std::string("sentinel:main@"), std::string("cluster:"),
        std::string("cluster:a:1,"), std::string("cluster:a"), many}) {
    EXPECT_FALSE(parseRedisTarget(bad).has_value()) << bad;
  }
}

TEST(RedisReader, sayWhatToDoWhenNothingListens) {
  const auto reader = RedisReader::connect(*parseRedisTarget("unix:/nonexistent/redis.sock"), {});
  ASSERT_FALSE(reader.has_value());
  EXPECT_NE(reader.error().text().find("PINGLOOM_REDIS"), std::string::npos);
}

}  // namespace
}  // namespace pingloom::cli::redis_target_test
