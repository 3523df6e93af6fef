#include "controller/config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <sstream>

#include "common/file.h"
#include "common/machine_name.h"

namespace pingloom::controller::config_test {
namespace {

using testing::HasSubstr;

constexpr const char* kMin = "pinglist: pinglist.yaml\nstate_dir: /var/lib/pingloom\n";

TEST(Config, HasDefaultsForEverythingButThePinglistAndTheStateDir) {
  const auto config = parseConfig(kMin, "/etc/pingloom/controller.yaml");
  ASSERT_TRUE(config) << config.error().text();
  EXPECT_EQ(config->pinglist, "/etc/pingloom/pinglist.yaml");
  EXPECT_EQ(config->control.text(), "0.0.0.0:20711");
  EXPECT_EQ(config->http.text(), "127.0.0.1:8080");
  EXPECT_EQ(config->redis.text(), "unix:/var/lib/pingloom/redis.sock");
  EXPECT_EQ(config->redis.kind, RedisTarget::Kind::kEmbedded);
  EXPECT_EQ(config->history_retention, 7 * 24 * kHour);
  EXPECT_EQ(config->history_max_bytes, 4ULL << 30);
  EXPECT_EQ(config->limits, pinglist::Limits{});
  EXPECT_TRUE(config->url_file.empty());
}

TEST(Config, WithoutKeysItStaysOnLoopbackUnlessItSaysOtherwise) {
  const auto loaded = [](const std::string& more) {
    auto config = parseConfig(kMin + more, "/etc/pingloom/controller.yaml");
    EXPECT_TRUE(config) << config.error().text();
    const auto status = loadKeys(*config);
    return status ? std::string() : status.error().text();
  };
  EXPECT_THAT(loaded(""), HasSubstr("control 0.0.0.0:20711: without 'keys'"));
  EXPECT_THAT(loaded("insecure: false\n"), HasSubstr("without 'keys'"));
  EXPECT_EQ(loaded("insecure: true\n"), "");
  EXPECT_EQ(loaded("control: 127.0.0.1:20711\n"), "");
  EXPECT_EQ(loaded("control: '[::1]:20711'\n"), "");
}

TEST(Config, PlaintextBesideKeysHasAPortOfItsOwn) {
  const auto parsed = [](const std::string& plaintext) {
    return parseConfig(
        kMin + std::string("keys: { secret: s, authorized: a, plaintext: ") + plaintext + " }\n",
        "/etc/pingloom/controller.yaml");
  };
  const auto config = parsed("10.0.0.1:20700");
  ASSERT_TRUE(config) << config.error().text();
  EXPECT_EQ(config->keys->plaintext->text(), "10.0.0.1:20700");
  EXPECT_EQ(exposedAt(*config), config->keys->plaintext);
  EXPECT_EQ(exposedAt(*parsed("127.0.0.1:20700")), std::nullopt);
  EXPECT_THAT(parsed("10.0.0.1:20711").error().text(), HasSubstr("needs another port"));
}

TEST(Config, TakesEveryKey) {
  const auto config = parseConfig(
      "pinglist: ../mesh.yaml\ncontrol: '[::]:1'\nhttp: 10.0.0.1:0\nweb_root: web\n"
      "state_dir: state\nredis: tcp:redis.example:6380\nredis_user: pingloom\n"
      "redis_password_file: secret\nlimits: { pings_per_second_per_host: 5, rows_per_second: 6,\n"
      "  history_bytes_per_day: 7GiB }\nhistory: { retention: 7d, max_size: 20GiB }\n"
      "log_level: debug\nurl_file: url\ncollectors: { token: t, ca: /c.pem }\n"
      "frame_ancestors: ['https://grafana.example', 'http://10.0.0.1:3000']\n",
      "/etc/pingloom/controller.yaml");
  ASSERT_TRUE(config) << config.error().text();
  EXPECT_EQ(config->pinglist, "/etc/mesh.yaml");
  EXPECT_EQ(config->control.text(), "[::]:1");
  EXPECT_EQ(config->web_root, "/etc/pingloom/web");
  EXPECT_EQ(config->redis.text(), "tcp:redis.example:6380");
  EXPECT_EQ(config->redis_user, "pingloom");
  EXPECT_EQ(config->redis_password_file, "/etc/pingloom/secret");
  EXPECT_EQ(config->limits.max_pings_per_second_per_host, 5U);
  EXPECT_EQ(config->limits.max_rows_per_second, 6U);
  EXPECT_EQ(config->limits.max_history_bytes_per_day, 7ULL << 30);
  EXPECT_EQ(config->history_retention, 7 * 24 * kHour);
  EXPECT_EQ(config->history_max_bytes, 20ULL << 30);
  EXPECT_EQ(config->url_file, "/etc/pingloom/url");
  EXPECT_EQ(config->collectors.token, "/etc/pingloom/t");
  EXPECT_EQ(config->collectors.ca, "/c.pem");
  EXPECT_EQ(config->frame_ancestors,
            (std::vector<std::string>{"https://grafana.example", "http://10.0.0.1:3000"}));
}

TEST(Config, OnlyOriginsMayFrameThePage) {
  for (const char* value : {"https://a.example", "['*']", "[a.example]", "['https://']",
                            "['https://a; script-src *']", "['https://a/b']", "[{a: b}]"}) {
    const auto config = parseConfig(std::string(kMin) + "frame_ancestors: " + value, "c.yaml");
    ASSERT_FALSE(config) << value;
    EXPECT_THAT(config.error().text(), HasSubstr("c.yaml:3:")) << value;
  }
}

TEST(Config, FindsTheHistoryInAFileOrADatabase) {
  const auto placeOf = [](const std::string& line) {
    const auto config = parseConfig(kMin + line, "/etc/c.yaml");
    return config ? historyPlace(*config).text() : config.error().text();
  };
  EXPECT_THAT(placeOf(""), HasSubstr("/history.sqlite"));
  EXPECT_EQ(
      placeOf("history: { postgres: { hosts: [db-1, 'db-2:5433', '[fd00::1]:7', 'fd00::2', "
              "/run/pg] } }\n"),
      "postgresql://pingloom@db-1:5432,db-2:5433,fd00::1:7,fd00::2:5432,/run/pg:5432/pingloom");
  const auto config = parseConfig(std::string(kMin) +
                                      "history: { postgres: { hosts: [a], database: d, user: u, "
                                      "password_file: p, tls: ca.pem } }\n",
                                  "/etc/c.yaml");
  ASSERT_TRUE(config) << config.error().text();
  EXPECT_EQ(historyPlace(*config).text(), "postgresql://u@a:5432/d");
  EXPECT_EQ(config->history_postgres->password_file, "/etc/p");
  EXPECT_EQ(config->history_postgres->ca_file, "/etc/ca.pem");
}

TEST(Config, ControllersShareOnlyADatabase) {
  const std::string shared = std::string(kMin) + "history: { postgres: { hosts: [db-1] } }\n";
  const auto config =
      parseConfig(shared + "cluster: { name: c-1, address: '[fd00::1]:20711' }\n", "/etc/c.yaml");
  ASSERT_TRUE(config) << config.error().text();
  EXPECT_EQ(config->cluster->name, "c-1");
  EXPECT_EQ(config->cluster->address, "[fd00::1]:20711");
  const auto by_default =
      parseConfig(shared + "cluster: {}\ncontrol: 127.0.0.1:20799\n", "/etc/c.yaml");
  ASSERT_TRUE(by_default) << by_default.error().text();
  const std::string machine = machineName();
  EXPECT_EQ(by_default->cluster->name, machine.substr(0, machine.find('.')));
  EXPECT_EQ(by_default->cluster->address, machine + ":20799");
  for (const char* address : {"0.0.0.0:20711", "'[::]:20711'", "a", "'a b:1'", "fd00::1:5"}) {
    const auto wrong =
        parseConfig(shared + "cluster: { name: c-1, address: " + address + " }\n", "/etc/c.yaml");
    ASSERT_FALSE(wrong) << address;
    EXPECT_THAT(wrong.error().text(), HasSubstr("write HOST:PORT")) << address;
  }
  const auto without =
      parseConfig(std::string(kMin) + "cluster: { name: c-1, address: a:1 }\n", "/etc/c.yaml");
  ASSERT_FALSE(without);
  EXPECT_THAT(without.error().text(), HasSubstr("needs 'history: { postgres: ... }'"));
}

TEST(Config, KnowsTheKindsOfRedis) {
  const auto redisOf = [](const std::string& line) {
    const auto config = parseConfig(kMin + line, "/etc/c.yaml");
    return config ? config->redis.text() : config.error().text();
  };
  EXPECT_EQ(redisOf("redis: embedded\nredis_socket: /run/r.sock\n"), "unix:/run/r.sock");
  EXPECT_EQ(redisOf("redis: unix:/run/redis/redis.sock\n"), "unix:/run/redis/redis.sock");
  EXPECT_EQ(redisOf("redis: unix:run/redis.sock\n"), "unix:/etc/run/redis.sock");
  EXPECT_EQ(redisOf("redis: 'tcp:[fd00::1]:6379'\n"), "tcp:[fd00::1]:6379");
  const std::string sentinel =
      "redis: { sentinel: { master: main, hosts: [s1:26379, '[fd00::1]:2'], password_file: p } }\n";
  EXPECT_EQ(redisOf(sentinel), "sentinel:main");
  const auto with_sentinels = parseConfig(kMin + sentinel, "/etc/c.yaml");
  ASSERT_TRUE(with_sentinels);
  ASSERT_EQ(with_sentinels->redis.servers.size(), 2U);
  EXPECT_EQ(with_sentinels->redis.servers[1].text(), "[fd00::1]:2");
  EXPECT_EQ(with_sentinels->redis.sentinel_password_file, "/etc/p");
  const auto with_cluster = parseConfig(
      std::string(kMin) + "redis: { cluster: [c1:6379, '[fd00::1]:2'] }\nredis_tls: { ca: a }\n",
      "/etc/c.yaml");
  ASSERT_TRUE(with_cluster) << with_cluster.error().text();
  EXPECT_EQ(with_cluster->redis.text(), "cluster:c1:6379");
  ASSERT_EQ(with_cluster->redis.servers.size(), 2U);
  EXPECT_TRUE(with_cluster->redis.tls);
}

TEST(Config, SaysWhereAndWhatIsWrong) {
  const std::string long_path = "/" + std::string(120, 'x');
  const struct {
    std::string lines;
    const char* expected;
  } table[] = {
      {"conrol: 1.2.3.4:5\n", "unknown key 'conrol' (did you mean 'control'?)"},
      {"control: here\n", "c.yaml:3:10: "},
      {"http: 127.0.0.1\n", "not ADDRESS:PORT"},
      {"redis: embeded\n", "(did you mean 'embedded'?)"},
      {"redis: tcp:host\n", "write tcp:HOST:PORT"},
      {"redis: {}\n", "'sentinel' or 'cluster' is missing"},
      {"redis: { cluster: a:1 }\n", "write a list: [HOST:PORT, ...]"},
      {"redis: { cluster: [] }\n", "write a list: [HOST:PORT, ...]"},
      {"redis: { cluster: [a] }\n", "write HOST:PORT"},
      {"redis: { cluster: [a:1], sentinel: { master: m, hosts: [a:1] } }\n", "exclude each other"},
      {"redis: { cluster: [a:1], host: a }\n", "'host'"},
      {"redis: { cluster: [a:1] }\nredis_socket: /a\n", "where an embedded Redis listens"},
      {"redis_tls: { ca: a }\n", "leave this out"},
      {"redis: tcp:a:1\nredis_tls: { ca: a, key: b }\n", "belong together"},
      {"redis: { sentinel: { master: m } }\n", "'hosts' is missing"},
      {"redis: { sentinel: { hosts: [a:1] } }\n", "'master' is missing"},
      {"redis: { sentinel: { master: m, hosts: [] } }\n", "write a list"},
      {"redis: { sentinel: { master: m, hosts: [a] } }\n", "write HOST:PORT"},
      {"redis: { sentinel: { master: m, host: a } }\n", "hosts"},
      {"redis: tcp:host:0\n", "write tcp:HOST:PORT"},
      {"redis: tcp:host:66000\n", "write tcp:HOST:PORT"},
      {"redis: unix:" + long_path + "\n", "too long"},
      {"redis_socket: " + long_path + "\n", "too long for a Unix socket"},
      {"redis: unix:/a\nredis_socket: /b\n", "where an embedded Redis listens"},
      {"redis_password_file: x\n", "an embedded Redis has no users"},
      {"redis: unix:/a\nredis_user: me\n", "needs 'redis_password_file'"},
      {"limits: { rows_per_second: 0 }\n", "not a whole number from 1"},
      {"limits: { rows_per_secnd: 1 }\n", "did you mean 'rows_per_second'?"},
      {"limits: { history_bytes_per_day: 5GB }\n", "not a size"},
      {"history: { retention: 10 }\n", "has no unit"},
      {"history: { retention: 1s }\n", "a duration from 1m to 3650d"},
      {"history: { max_size: 1MiB }\n", "a size of at least 16MiB"},
      {"history: { postgres: { user: me } }\n", "'hosts' is missing"},
      {"history: { postgres: { hosts: [] } }\n", "write a list"},
      {"history: { postgres: { hosts: ['a,b'] } }\n", "write HOST or HOST:PORT"},
      {"history: { postgres: { hosts: ['a:0'] } }\n", "write HOST or HOST:PORT"},
      {"history: { postgres: { hosts: [a], port: 1 } }\n", "unknown"},
      {"history: { max_size: 99999999999TiB }\n", "not a size"},
      {"log_level: loud\n", "not one of debug, info, warning, error"},
      {"web_root: ''\n", "is empty"},
      {"state_dir: elsewhere\n", "twice"},
  };
  for (const auto& line : table) {
    const auto config = parseConfig(kMin + line.lines, "c.yaml");
    ASSERT_FALSE(config) << line.lines;
    EXPECT_THAT(config.error().text(), HasSubstr(line.expected)) << line.lines;
  }
  EXPECT_THAT(parseConfig("", "c.yaml").error().text(), HasSubstr("is empty"));
  EXPECT_THAT(parseConfig("pinglist: x\n", "c.yaml").error().text(), HasSubstr("'state_dir'"));
  EXPECT_THAT(parseConfig("state_dir: x\n", "c.yaml").error().text(), HasSubstr("'pinglist'"));
}

// config/controller.yaml says "the default shown": all of them taken at their word.
TEST(Config, TheExampleShowsTheDefaults) {
  const auto example = readFile(PINGLOOM_SOURCE_DIR "/config/controller.yaml", 65'536);
  ASSERT_TRUE(example);
  const auto shipped = parseConfig(*example, "/etc/pingloom/controller.yaml");
  ASSERT_TRUE(shipped) << shipped.error().text();
  std::istringstream lines(*example);
  std::string shown;
  for (std::string line; std::getline(lines, line);) {
    const bool other_redis = line.find("not for embedded") != std::string::npos;
    const bool key = line.starts_with("# ") && line.find(": ") != std::string::npos &&
                     line.find(' ', 2) > line.find(':');
    const bool inner = line.starts_with("#   ") && line.find(": ") != std::string::npos &&
                       line.find("unix:/") == std::string::npos;
    const bool outer = line == "# limits:" || line == "# history:" || line == "# alerts:";
    const bool taken =
        (key || inner || outer) && !other_redis && line.find("url_file") == std::string::npos;
    shown += (taken ? line.substr(2) : line) + "\n";
  }
  const auto uncommented = parseConfig(shown, "/etc/pingloom/controller.yaml");
  ASSERT_TRUE(uncommented) << uncommented.error().text() << "\n" << shown;
  for (const auto& config : {*shipped, *uncommented}) {
    EXPECT_EQ(config.control, Config{}.control);
    EXPECT_EQ(config.http, Config{}.http);
    EXPECT_EQ(config.redis.text(), "unix:/var/lib/pingloom/controller/redis.sock");
    EXPECT_EQ(config.limits, pinglist::Limits{});
    EXPECT_EQ(config.history_retention, Config{}.history_retention);
    EXPECT_EQ(config.history_max_bytes, Config{}.history_max_bytes);
    EXPECT_EQ(config.log_levels.level, Config{}.log_levels.level);
  }
}

}  // namespace
}  // namespace pingloom::controller::config_test
