#include "controller/alerts/target_config.h"

#include <gmock/gmock.h>

#include "controller/config.h"
#include "unit/controller/alerts/support.h"

namespace pingloom::controller::target_config_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Result<Config> parsed(const std::string& targets) {
  return parseConfig("pinglist: p.yaml\nstate_dir: s\nalerts:\n" + targets, "/etc/c.yaml");
}

TEST(AlertTargetConfig, TakesEveryKind) {
  const auto config = parsed(
      "  - { name: am, kind: alertmanager, urls: ['https://am1:9093', 'http://am2:9093/x'],\n"
      "      token_file: am-token, ca_file: ca.pem }\n"
      "  - { name: hook_1, kind: webhook, url: 'http://[::1]:80/a?b=c', severities: [very slow],\n"
      "      kinds: [host, host-cpu], probes: [rdma], labels: { rack: r1 } }\n"
      "  - { name: pd, kind: pagerduty, secret_file: /run/key }\n"
      "  - { name: slack, kind: slack, url_file: slack-url }\n"
      "  - { name: run, kind: command, argv: [/bin/page, --x] }\n");
  ASSERT_TRUE(config) << config.error().text();
  const auto& all = config->alerts;
  ASSERT_EQ(all.size(), 5U);
  EXPECT_EQ(all[0].lanes(), 2U);
  EXPECT_EQ(all[0].secret_file, "/etc/am-token");
  EXPECT_EQ(all[0].ca_file, "/etc/ca.pem");
  EXPECT_EQ(all[0].severities.size(), 4U);
  EXPECT_THAT(all[1].severities, ElementsAre(Severity::kVerySlow));
  EXPECT_THAT(all[1].kinds, ElementsAre(CulpritKind::kHost, CulpritKind::kHostCpu));
  EXPECT_THAT(all[2].urls, ElementsAre("https://events.pagerduty.com/v2/enqueue"));
  EXPECT_EQ(all[3].url_file, "/etc/slack-url");
  EXPECT_THAT(all[4].argv, ElementsAre("/bin/page", "--x"));
  EXPECT_TRUE(parsed("  []\n")->alerts.empty());
}

TEST(AlertTargetConfig, SaysWhereAndWhatIsWrong) {
  const std::string hook = "  - { name: a, kind: webhook, url: 'http://h/' ";
  std::string many;
  for (int i = 0; i < 65; ++i) {
    many += "  - { name: n" + std::to_string(i) + ", kind: command, argv: [/bin/x] }\n";
  }
  const std::vector<std::pair<std::string, std::string>> table = {
      {"  x: 1\n", "/etc/c.yaml:4:3: "},
      {"  - { kind: webhook, url: 'http://h' }\n", "'name' is missing"},
      {"  - { name: A b, kind: webhook }\n", "may only have a-z"},
      {"  - { name: a }\n", "'kind' is missing: alertmanager, webhook"},
      {"  - { name: a, kind: webhok, url: 'http://h' }\n", "(did you mean 'webhook'?)"},
      {"  - { name: a, kind: webhook }\n", "'url' or 'url_file' is missing"},
      {"  - { name: a, kind: webhook, url: 'ftp://h' }\n", "must begin with http:// or https://"},
      {"  - { name: a, kind: webhook, url: 'http://h?x' }\n", "followed by a port or a path"},
      {"  - { name: a, kind: webhook, url: 'http://u:p@h' }\n", "port"},
      {"  - { name: a, kind: webhook, url: 'http://h/a b' }\n", "space"},
      {"  - { name: a, kind: webhook, urls: ['http://h'] }\n", "which takes: url url_file"},
      {hook + ", url_file: x }\n", "has both 'url' and 'url_file'"},
      {hook + ", severities: [slw] }\n", "is not one of slow, very slow, lossy, down"},
      {hook + ", severities: [ok] }\n", "is not one of slow"},
      {hook + ", severities: [] }\n", "is a list of 1 to 64"},
      {hook + ", kinds: [hots] }\n", "(did you mean 'host'?)"},
      {hook + ", labels: [rack] }\n", "is a map of labels"},
      {hook + ", labels: { a: b, a: c } }\n", "twice"},
      {hook + ", seveirties: [down] }\n", "(did you mean 'severities'?)"},
      {hook + "}\n" + hook + "}\n", "another target has the name 'a'"},
      {"  - { name: a, kind: alertmanager }\n", "'url' or 'urls' is missing"},
      {"  - { name: a, kind: alertmanager, urls: ['http://h', 'http://h'] }\n", "listed twice"},
      {"  - { name: a, kind: pagerduty }\n", "'secret_file' is missing"},
      {"  - { name: a, kind: pagerduty, secret_file: k, token_file: t }\n", "is not for the kind"},
      {"  - { name: a, kind: command }\n", "'argv' is missing"},
      {"  - { name: a, kind: command, argv: [page] }\n", "no absolute path"},
      {many, "more than 64 targets"},
  };
  for (const auto& [targets, expected] : table) {
    const auto config = parsed(targets);
    ASSERT_FALSE(config) << targets;
    EXPECT_THAT(config.error().text(), HasSubstr(expected)) << targets;
    EXPECT_THAT(config.error().entity, testing::StartsWith("/etc/c.yaml:")) << targets;
  }
}

TEST(AlertTargetConfig, AnIncidentHasToMatchEverything) {
  AlertTarget target = test::targetOf(AlertKind::kWebhook, {"http://h"});
  const Incident incident = test::incidentOf(1, Severity::kLossy);
  EXPECT_TRUE(target.wants(incident));
  target.labels = {{"rack", "r1"}};
  target.probes = {"udp", "rdma"};
  target.kinds = {CulpritKind::kHost};
  EXPECT_TRUE(target.wants(incident));
  for (const auto& spoil : std::vector<std::function<void(AlertTarget&)>>{
           [](AlertTarget& one) { one.labels["rack"] = "r2"; },
           [](AlertTarget& one) { one.labels["row"] = "r1"; },
           [](AlertTarget& one) { one.probes = {"udp"}; },
           [](AlertTarget& one) { one.kinds = {CulpritKind::kPair}; },
           [](AlertTarget& one) { one.severities = {Severity::kDown}; }}) {
    AlertTarget other = target;
    spoil(other);
    EXPECT_FALSE(other.wants(incident));
  }
}

}  // namespace
}  // namespace pingloom::controller::target_config_test
