#include "agent/config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/text.h"

namespace pingloom::agent::config_test {
namespace {

using testing::HasSubstr;

TEST(AgentConfig, EverythingSet) {
  const auto config = parseConfig(
      "controller: ctrl.example:4711\n"
      "host: gpu-001\n"
      "addresses: [10.0.0.9, 10.0.0.1, 'fd00::1']\n"
      "port: 30000\n"
      "state_dir: state\n"
      "http: '[::1]:9100'\n"
      "log_level: debug\n"
      "spool: { max_size: 64MiB }\n",
      "/etc/pingloom/agent.yaml");
  ASSERT_TRUE(config) << config.error().text();
  EXPECT_EQ(config->controllers, std::vector<std::string>{"ctrl.example:4711"});
  EXPECT_EQ(config->host, "gpu-001");
  ASSERT_EQ(config->addresses.size(), 3U);
  EXPECT_EQ(config->addresses[0].text(), "10.0.0.1") << "sorted";
  EXPECT_EQ(config->port, 30000);
  EXPECT_EQ(config->state_dir, "/etc/pingloom/state");
  EXPECT_EQ(config->http->text(), "[::1]:9100");
  EXPECT_FALSE(config->http_by_default);
  EXPECT_EQ(config->log_levels.level, log::Level::kDebug);
  EXPECT_EQ(config->spool_max_bytes, 64ULL << 20);
}

TEST(AgentConfig, Defaults) {
  const auto config = parseConfig("controller: 10.0.0.1\n", "agent.yaml");
  ASSERT_TRUE(config) << config.error().text();
  EXPECT_EQ(config->controllers, std::vector<std::string>{"10.0.0.1:20711"});
  EXPECT_FALSE(config->host.empty());
  EXPECT_TRUE(config->addresses.empty());
  EXPECT_EQ(config->port, 20710);
  EXPECT_EQ(config->state_dir, "/var/lib/pingloom/agent");
  ASSERT_TRUE(config->http);
  EXPECT_EQ(config->http->text(), "127.0.0.1:20712");
  EXPECT_TRUE(config->http_by_default);
  EXPECT_FALSE(config->results_log);
  EXPECT_FALSE(config->events);
  EXPECT_FALSE(config->pages);
  EXPECT_EQ(config->spool_max_bytes, 256ULL << 20);
}

TEST(AgentConfig, NoMetricsOnRequest) {
  const auto config = parseConfig("controller: a\nhttp: none\n", "agent.yaml");
  ASSERT_TRUE(config) << config.error().text();
  EXPECT_FALSE(config->http);
}

TEST(AgentConfig, LevelsByComponentAndTheResultsLog) {
  const auto config = parseConfig(
      "controller: a\nlog_level: error\nlog: { rdma: debug }\n"
      "results_log: { path: r.jsonl, max_size: 1MiB, files: 2 }\n",
      "/etc/pingloom/agent.yaml");
  ASSERT_TRUE(config) << config.error().text();
  EXPECT_EQ(config->log_levels.level, log::Level::kError);
  EXPECT_EQ(config->log_levels.of(log::componentOf("src/rdma/a.cpp")), log::Level::kDebug);
  ASSERT_TRUE(config->results_log);
  EXPECT_EQ(config->results_log->path, "/etc/pingloom/r.jsonl");
  EXPECT_EQ(config->results_log->max_bytes, 1ULL << 20);
  EXPECT_EQ(config->results_log->files, 2U);
}

TEST(AgentConfig, WhereEventsGo) {
  const auto config =
      parseConfig("controller: a\nevents: { translator: '10.0.0.9:20716', table: 2 }\n", "a.yaml");
  ASSERT_TRUE(config) << config.error().text();
  ASSERT_TRUE(config->events);
  EXPECT_EQ(config->events->translator, "10.0.0.9:20716");
  EXPECT_EQ(config->events->table, 2);
  const auto sealed = parseConfig(
      "controller: a\nevents: { table: 3, reporter: 7, key: events.key }\n", "/etc/p/a.yaml");
  ASSERT_TRUE(sealed) << sealed.error().text();
  EXPECT_EQ(sealed->events->translator, "127.0.0.1");
  EXPECT_EQ(sealed->events->reporter, 7U);
  EXPECT_EQ(sealed->events->key, "/etc/p/events.key");
}

TEST(AgentConfig, ATranslatorOfItsOwn) {
  const auto config = parseConfig(
      "controller: a\ntranslator: { address: 10.0.0.1, collector: 10.0.0.5, name: t }\n", "a.yaml");
  ASSERT_TRUE(config) << config.error().text();
  ASSERT_TRUE(config->translator);
  EXPECT_EQ(config->translator->collector, "10.0.0.5:20717");
  EXPECT_EQ(config->translator->listen.text(), "127.0.0.1:20716");
}

TEST(AgentConfig, TheControllerInAllItsForms) {
  const auto controller = [](const std::string& text) {
    const auto config = parseConfig("controller: '" + text + "'\n", "a.yaml");
    return config ? join(config->controllers, " ") : config.error().text();
  };
  EXPECT_EQ(controller("localhost"), "localhost:20711");
  EXPECT_EQ(controller("[fd00::1]"), "[fd00::1]:20711");
  EXPECT_EQ(controller("[fd00::1]:5"), "[fd00::1]:5");
}

TEST(AgentConfig, SeveralControllers) {
  const auto config = parseConfig("controller: [a, 'b:5']\n", "a.yaml");
  ASSERT_TRUE(config) << config.error().text();
  EXPECT_EQ(join(config->controllers, " "), "a:20711 b:5");
  const auto twice = parseConfig("controller: [a, 'a:20711']\n", "a.yaml");
  ASSERT_FALSE(twice);
  EXPECT_THAT(twice.error().text(), HasSubstr("a:20711 is there twice"));
}

// Wherever the agent is started from.
TEST(AgentConfig, PathsAreRelativeToTheFile) {
  const std::string key(40, 'a');
  const auto config = parseConfig(
      "controller: c\nhttp: 127.0.0.1:80\nkeys: { secret: own.key, "
      "controller: " +
          key +
          " }\npages: { socket: pages.sock }\n"
          "http_access: { tokens: tokens.yaml }\n",
      "/etc/pingloom/agent.yaml");
  ASSERT_TRUE(config) << config.error().text();
  EXPECT_EQ(config->keys->secret, "/etc/pingloom/own.key");
  EXPECT_EQ(config->pages->registration.socket, "/etc/pingloom/pages.sock");
  EXPECT_EQ(config->http_access.tokens, "/etc/pingloom/tokens.yaml");
}

struct BadFile {
  const char* text;
  const char* place;
  const char* reason;
};

class BadConfig : public testing::TestWithParam<BadFile> {};

TEST_P(BadConfig, SaysWhereAndWhy) {
  const auto config = parseConfig(GetParam().text, "a.yaml");
  ASSERT_FALSE(config);
  EXPECT_THAT(config.error().entity, HasSubstr(GetParam().place));
  EXPECT_THAT(config.error().reason, HasSubstr(GetParam().reason));
}

INSTANTIATE_TEST_SUITE_P(
    Table, BadConfig,
    testing::Values(
        BadFile{"", "a.yaml", "controller: HOST:PORT"},
        BadFile{"- a\n", "a.yaml:1:1", "expected keys"},
        BadFile{"host: a\n", "a.yaml", "'controller' is missing"},
        BadFile{"controler: a\n", "a.yaml:1:1", "did you mean 'controller'"},
        BadFile{"controller: a\nport: 0\n", "a.yaml:2:7", "from 1 to 65535"},
        BadFile{"controller: a\nport: 65536\n", "a.yaml:2:7", "from 1 to 65535"},
        BadFile{"controller: a:0\n", "a.yaml:1:13", "the port"},
        BadFile{"controller: a:b\n", "a.yaml:1:13", "the port"},
        BadFile{"controller: 'fd00::1:20711'\n", "a.yaml:1:13", "[ADDRESS]:PORT"},
        BadFile{"controller: '[10.0.0.1]:20711'\n", "a.yaml:1:13", "IPv6"},
        BadFile{"controller: 'a b'\n", "a.yaml:1:13", "not HOST:PORT"},
        BadFile{"controller: 'tcp://a:1'\n", "a.yaml:1:13", "[ADDRESS]:PORT"},
        BadFile{"controller: ':20711'\n", "a.yaml:1:13", "not HOST:PORT"},
        BadFile{"controller: []\n", "a.yaml:1:13", "is empty"},
        BadFile{"controller: a\nhost: ''\n", "a.yaml:2:7", "1 to 253"},
        BadFile{"controller: a\nhost: 'a b'\n", "a.yaml:2:7", "blanks"},
        BadFile{"controller: a\naddresses: 10.0.0.1\n", "a.yaml:2:12", "list"},
        BadFile{"controller: a\naddresses: []\n", "a.yaml:2:12", "leave it out"},
        BadFile{"controller: a\naddresses: [10.0.0.256]\n", "a.yaml:2:13", "not an IPv4 or IPv6"},
        BadFile{"controller: a\naddresses: [0.0.0.0]\n", "a.yaml:2:13", "no address"},
        BadFile{"controller: a\naddresses: [10.0.0.1, '::ffff:10.0.0.1']\n", "a.yaml:2:23",
                "twice"},
        BadFile{"controller: a\nhttp: 9100\n", "a.yaml:2:7", "not ADDRESS:PORT"},
        BadFile{"controller: a\nlog_level: loud\n", "a.yaml:2:12", "loud"},
        BadFile{"controller: a\nlog: { rmda: debug }\n", "a.yaml:2:8", "no component"},
        BadFile{"controller: a\nhttp: none\nhttp_access: { tokens: t }\n", "a.yaml:3:14", "none"},
        BadFile{"controller: a\ntranslator: { address: 10.0.0.1 }\n", "a.yaml:2:13",
                "'collector' is missing"},
        BadFile{"controller: a\ntranslator: { http: 1.2.3.4:5 }\n", "a.yaml:2:15", "http"},
        BadFile{"controller: a\nevents: { translator: t.example, table: 2 }\n", "a.yaml:2:23",
                "no ADDRESS"},
        BadFile{"controller: a\nevents: { translator: '::1' }\n", "a.yaml:2:9",
                "'table' is missing"},
        BadFile{"controller: a\nresults_log: { files: 2 }\n", "a.yaml:2:14", "'path' is missing"},
        BadFile{"controller: a\nresults_log: { path: r, files: 0 }\n", "a.yaml:2:32", "1 to 100"},
        BadFile{"controller: a\nresults_log: { path: r, max_size: 1KiB }\n", "a.yaml:2:35",
                "from 64KiB"},
        BadFile{"controller: a\nstate_dir: ''\n", "a.yaml:2:12", "empty"},
        BadFile{"controller: a\nspool: 5\n", "a.yaml:2:8", "expected keys"},
        BadFile{"controller: a\nspool: { max_siz: 5MiB }\n", "a.yaml:2:10", "max_size"},
        BadFile{"controller: a\nspool: { max_size: 5MB }\n", "a.yaml:2:20", "MiB"},
        BadFile{"controller: a\nspool: { max_size: 1MiB }\n", "a.yaml:2:20", "from 4MiB to 64GiB"},
        BadFile{"controller: a\nspool: { max_size: 99999999999GiB }\n", "a.yaml:2:20",
                "not a size"},
        BadFile{"controller: a\ncontroller: b\n", "a.yaml:2:1", "twice"},
        BadFile{"controller: a\n---\nhost: b\n", "a.yaml", "more than one"}));

TEST(AgentConfig, Rdma) {
  const auto config = parseConfig(
      "controller: c\n"
      "rdma:\n"
      "  device: mlx5_0/2\n"
      "  poll: busy\n"
      "  mtu: 1024\n"
      "  q_key: 0x11\n"
      "  service_level: 3\n"
      "  flow_label: 7\n"
      "  p_key_index: 1\n"
      "  grh: true\n",
      "agent.yaml");
  ASSERT_TRUE(config) << config.error().text();
  const RdmaConfig& rdma = config->rdma;
  EXPECT_EQ(rdma.device.device, "mlx5_0");
  EXPECT_EQ(rdma.device.port, 2);
  EXPECT_TRUE(rdma.endpoint.busy && rdma.endpoint.grh);
  EXPECT_EQ(rdma.endpoint.mtu, 1024U);
  EXPECT_EQ(rdma.endpoint.q_key, 0x11U);
  EXPECT_EQ(rdma.endpoint.service_level, 3);
  EXPECT_EQ(rdma.endpoint.flow_label, 7U);
  EXPECT_EQ(rdma.endpoint.p_key_index, 1);
}

TEST(AgentConfig, RdmaImpairments) {
  const auto config = parseConfig(
      "controller: c\n"
      "rdma: { device: soft, impair: [{ loss: 0.5% }, { to: 10.0.0.3, delay: 5ms, jitter: 1ms,"
      " duplicate: 2% }] }\n",
      "agent.yaml");
  ASSERT_TRUE(config) << config.error().text();
  const auto& impairments = config->rdma.device.soft.impairments;
  EXPECT_DOUBLE_EQ(impairments.everywhere.loss, 0.005);
  const auto& towards = impairments.towards.at(*IpAddress::parse("10.0.0.3"));
  EXPECT_EQ(towards.delay, 5 * kMillisecond);
  EXPECT_EQ(towards.jitter, kMillisecond);
  EXPECT_DOUBLE_EQ(towards.duplicate, 0.02);
}

TEST(AgentConfig, RefusesBadRdma) {
  for (const auto& [rdma, what] : std::vector<std::pair<std::string, std::string>>{
           {"{ device: '' }", "write auto, soft, NAME or NAME/PORT"},
           {"{ device: mlx5_0/0 }", "1..255"},
           {"{ poll: sometimes }", "event or busy"},
           {"{ mtu: 1000 }", "256, 512, 1024, 2048 or 4096"},
           {"{ q_key: 2147483648 }", "agent.yaml:2"},
           {"{ impair: [{ loss: 1% }] }", "only a soft device"},
           {"{ device: soft, impair: { loss: 1% } }", "expected a list"},
           {"{ device: soft, impair: [{ loss: 101% }] }", "a percentage"},
           {"{ device: soft, impair: [{ loss: nan% }] }", "a percentage"},
           {"{ device: soft, impair: [{ delay: 11s }] }", "a duration from 1ns to 10s"},
           {"{ device: soft, impair: [{ to: nowhere }] }", "agent.yaml:2"},
           {"{ gid: 3 }", "gid"}}) {
    const auto config = parseConfig("controller: c\nrdma: " + rdma + "\n", "agent.yaml");
    ASSERT_FALSE(config) << rdma;
    EXPECT_THAT(config.error().text(), HasSubstr(what)) << rdma;
  }
}

}  // namespace
}  // namespace pingloom::agent::config_test
