#include "collector/config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace pingloom::collector::config_test {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

TEST(CollectorConfig, ReadsEveryKey) {
  const auto config = parseConfig(
      "name: dpu-1\n"
      "address: [10.0.0.9, 10.0.0.10]\n"
      "device: mlx5_0\n"
      "readers: 32\n"
      "http: 0.0.0.0:9000\n"
      "agents:\n"
      "  - 10.0.0.1\n"
      "  - 10.0.0.2:77\n"
      "  - { agent: \"fd00::1\", interval: 1ms }\n"
      "interval: 50ms\n"
      "log_level: debug\n",
      "c.yaml");
  ASSERT_TRUE(config) << config.error().text();
  EXPECT_EQ(config->name, "dpu-1");
  EXPECT_EQ(config->addresses.size(), 2U);
  EXPECT_EQ(config->readers, 32U);
  EXPECT_EQ(config->http.text(), "0.0.0.0:9000");
  ASSERT_EQ(config->agents.size(), 3U);
  EXPECT_EQ(config->agents[0], (AgentSpec{"10.0.0.1:20714", 50 * kMillisecond}));
  EXPECT_EQ(config->agents[1], (AgentSpec{"10.0.0.2:77", 50 * kMillisecond}));
  EXPECT_EQ(config->agents[2], (AgentSpec{"[fd00::1]:20714", kMillisecond}));
}

// Wherever the collector is started from.
TEST(CollectorConfig, PathsAreRelativeToTheFile) {
  const auto config = parseConfig(
      "address: 10.0.0.9\ncontroller: http://10.0.0.1:8080\nurl_file: run/url\n"
      "controller_token: token\ncontroller_ca: ca.pem\nadvertise: https://192.0.2.1:7\nkeys: { "
      "secret: own.key }\n"
      "http_access: { tokens: tokens.yaml }\n",
      "/etc/pingloom/collector.yaml");
  ASSERT_TRUE(config) << config.error().text();
  EXPECT_EQ(config->url_file, "/etc/pingloom/run/url");
  EXPECT_EQ(config->controller_token, "/etc/pingloom/token");
  EXPECT_EQ(config->controller_ca, "/etc/pingloom/ca.pem");
  EXPECT_EQ(config->advertise, "https://192.0.2.1:7");
  EXPECT_EQ(config->keys->secret, "/etc/pingloom/own.key");
  EXPECT_EQ(config->http_access.tokens, "/etc/pingloom/tokens.yaml");
}

TEST(CollectorConfig, OneControllerOrAList) {
  const std::string address = "address: 10.0.0.9\n";
  const auto one = parseConfig(address + "controller: http://a:8080\n", "c.yaml");
  ASSERT_TRUE(one) << one.error().text();
  EXPECT_EQ(one->controllers, std::vector<std::string>{"http://a:8080"});
  const auto two =
      parseConfig(address + "controller: [http://a:8080, https://10.0.0.2:8080]\n", "c.yaml");
  ASSERT_TRUE(two) << two.error().text();
  EXPECT_EQ(two->controllers, (std::vector<std::string>{"http://a:8080", "https://10.0.0.2:8080"}));
}

TEST(CollectorConfig, ReadsWhereToPush) {
  const auto config = parseConfig(
      "address: 10.0.0.9\nagents: [10.0.0.1]\n"
      "push: { remote_write: { url: 'https://metrics:9090/api/v1/write', interval: 30s, "
      "token: token, ca: ca.crt, histograms: exact }, otlp: { url: 'http://otel:4318/v1/metrics', "
      "user: '1234', password: password } }\n",
      "/etc/pingloom/collector.yaml");
  ASSERT_TRUE(config) << config.error().text();
  PushTarget wanted;
  wanted.url = "https://metrics:9090/api/v1/write";
  wanted.interval = 30 * kSecond;
  wanted.token = "/etc/pingloom/token";
  wanted.ca = "/etc/pingloom/ca.crt";
  wanted.exact_histograms = true;
  EXPECT_EQ(config->push.remote_write, wanted);
  ASSERT_TRUE(config->push.otlp);
  EXPECT_EQ(config->push.otlp->url, "http://otel:4318/v1/metrics");
  EXPECT_EQ(config->push.otlp->interval, 15 * kSecond);
  EXPECT_EQ(config->push.otlp->user, "1234");
  EXPECT_EQ(config->push.otlp->password, "/etc/pingloom/password");
  EXPECT_FALSE(config->push.otlp->exact_histograms);
}

// What is wrong, at which line, and what to write instead.
TEST(CollectorConfig, SaysWhatIsWrongAndWhere) {
  struct Case {
    std::string text;
    const char* place;
    const char* remedy;
  };
  const std::string good = "address: 10.0.0.9\nagents: [10.0.0.1]\n";
  const Case cases[] = {
      {"", "c.yaml", "it needs 'address' and 'agents'"},
      {"- a\n", "c.yaml:1", "expected"},
      {"agents: [10.0.0.1]\n", "c.yaml:1", "'address' is missing"},
      {"address: 10.0.0.9\n", "c.yaml:1", "write 'agents: [ADDRESS, ...]'"},
      {"address: 10.0.0.9\nagents: []\n", "c.yaml:1", "write 'agents: [ADDRESS, ...]'"},
      {"address: host\nagents: [10.0.0.1]\n", "c.yaml:1", "host"},
      {good + "readers: 0\n", "c.yaml:3", "from 1 to 64"},
      {good + "readers: 65\n", "c.yaml:3", "from 1 to 64"},
      {good + "readers: two\n", "c.yaml:3", "from 1 to 64"},
      {good + "readers: [2]\n", "c.yaml:3", ""},
      {"readers: 33\naddress: [10.0.0.9, 10.0.0.8]\nagents: [10.0.0.1]\n", "c.yaml:1",
       "write at most 32"},
      {"address: []\nagents: [10.0.0.1]\n", "c.yaml:1", "1 to 64 addresses"},
      {good + "agent: 10.0.0.2\n", "c.yaml:3", "agent"},
      {good + "interval: 0\n", "c.yaml:3", ""},
      {good + "interval: 10us\n", "c.yaml:3", "1ms to 1h"},
      {good + "interval: 2h\n", "c.yaml:3", "1ms to 1h"},
      {good + "interval: -1s\n", "c.yaml:3", ""},
      {good + "http: 127.0.0.1\n", "c.yaml:3", ""},
      {good + "http: 127.0.0.1:99999\n", "c.yaml:3", ""},
      {good + "log_level: loud\n", "c.yaml:3", "loud"},
      {good + "controller: 10.0.0.1\n", "c.yaml:3", "http://HOST:PORT"},
      {good + "controller: []\n", "c.yaml:3", "is empty"},
      {good + "controller: [http://a, b]\n", "c.yaml:3", "http://HOST:PORT"},
      {good + "controller: [http://a, http://a]\n", "c.yaml:3", "twice"},
      {good + "controller: [http://a1, http://a2, http://a3, http://a4, http://a5, http://a6, "
              "http://a7, http://a8, http://a9, http://b1, http://b2, http://b3, http://b4, "
              "http://b5, http://b6, http://b7, http://b8]\n",
       "c.yaml:3", "more than 16"},
      {good + "name: ''\n", "c.yaml:3", "1 to 253"},
      {good + "device: []\n", "c.yaml:3", ""},
      {"address: 10.0.0.9\nagents: 10.0.0.1\n", "c.yaml:2", "expected a list"},
      {"address: 10.0.0.9\nagents:\n  - host\n", "c.yaml:3", "write ADDRESS or ADDRESS:PORT"},
      {"address: 10.0.0.9\nagents:\n  - 10.0.0.1\n  - 10.0.0.1:20714\n", "c.yaml:4", "twice"},
      {"address: 10.0.0.9\nagents:\n  - { interval: 1s }\n", "c.yaml:3", "'agent' is missing"},
      {"address: 10.0.0.9\nagents:\n  - { agent: 10.0.0.1, every: 1s }\n", "c.yaml:3", "every"},
      {good + "interval: [\n", "c.yaml:", ""},
      {good + "push: { kafka: {} }\n", "c.yaml:3", "kafka"},
      {good + "push: { remote_write: {} }\n", "c.yaml:3", "'url' is missing"},
      {good + "push: { remote_write: { url: 'http://host:9090' } }\n", "c.yaml:3", "/api/v1/write"},
      {good + "push: { remote_write: { url: 'host:9090/write' } }\n", "c.yaml:3", "http://"},
      {good + "push: { remote_write: { url: 'http://me@host/write' } }\n", "c.yaml:3", "users"},
      {good + "push: { remote_write: { url: 'http://h/w', interval: 1ms } }\n", "c.yaml:3",
       "1s to 1h"},
      {good + "push: { otlp: { url: 'http://h/w', user: me } }\n", "c.yaml:3", "belong together"},
      {good + "push: { otlp: { url: 'http://h/w', password: file } }\n", "c.yaml:3",
       "belong together"},
      {good + "push: { otlp: { url: 'http://h/w', user: 'a:b', password: f } }\n", "c.yaml:3",
       "':'"},
      {good + "push: { otlp: { url: 'http://h/w', user: a, password: f, token: t } }\n", "c.yaml:3",
       "only one"},
      {good + "push: { otlp: { url: 'http://h/w', histograms: all } }\n", "c.yaml:3", "'exact'"},
  };
  ASSERT_TRUE(parseConfig(good, "c.yaml"));
  for (const Case& one : cases) {
    const auto config = parseConfig(one.text, "c.yaml");
    ASSERT_FALSE(config) << one.text;
    EXPECT_THAT(config.error().text(), StartsWith(one.place)) << one.text;
    EXPECT_THAT(config.error().text(), HasSubstr(one.remedy)) << one.text;
  }
}

}  // namespace
}  // namespace pingloom::collector::config_test
