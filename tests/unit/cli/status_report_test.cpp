#include "cli/status_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "common/text.h"

namespace pingloom::cli::status_report_test {
namespace {

using nlohmann::json;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

json healthyStatus() {
  return json::parse(R"({"version":"1.2.3","started":"2026-11-21T03:00:00Z","not_ready":[],
    "pinglist":{"path":"/etc/pinglist.yaml","loaded":"2026-11-21T03:00:01Z","reloads":3,
                "rejections":1,"error":null,"warnings":["pinglist.yaml:3:1: rdma"]},
    "pairs":{"ok":12,"loss":0,"agent-down":2},
    "agents":{"known":4,"alive":4,"plan_current":4},
    "redis":{"target":"unix:/run/redis.sock","connected":true,"error":null,"rows_written":99},
    "history":{"writing":true,"error":null,"windows_written":7,"bytes":4096}})");
}
json healthyHosts() {
  return json::parse(R"({"hosts":[{"host":"a","alive":true}],"unregistered":[]})");
}
json someProbes() {
  return json::parse(R"({"probes":[{"name":"udp","protocol":"udp","interval_ns":200000000,
    "window_ns":10000000000,"pairs":12,"states":{"ok":12}}]})");
}

TEST(StatusReport, healthy) {
  const auto report = reportStatus(healthyStatus(), healthyHosts(), someProbes(), json());
  EXPECT_THAT(report.problems, IsEmpty());
  const std::string page = join(report.lines, "\n");
  EXPECT_THAT(page, HasSubstr("12 ok, 2 agent-down"));  // a count of 0 is left out
  EXPECT_THAT(page, HasSubstr("pinglist.yaml:3:1: rdma"));
  EXPECT_THAT(page, HasSubstr("200ms"));
}

TEST(StatusReport, saysWhetherKeysAreInUse) {
  const auto page = [](const char* keys) {
    json status = healthyStatus();
    status["keys"] = json::parse(keys);
    const auto report = reportStatus(status, healthyHosts(), someProbes(), json());
    EXPECT_THAT(report.problems, IsEmpty());
    return join(report.lines, "\n");
  };
  const auto keyed = page(R"({"in_use":true,"exposed":false,"authorized":3,"waiting":0})");
  EXPECT_THAT(keyed, HasSubstr("keys        3 authorised\n"));
  EXPECT_THAT(keyed, Not(HasSubstr("WITHOUT KEYS")));
  EXPECT_THAT(page(R"({"in_use":true,"exposed":false,"authorized":3,"waiting":2})"),
              HasSubstr("3 authorised, 2 wait; 'pingloom keys pending' shows them"));
  const auto plain = page(R"({"in_use":false,"exposed":true,"authorized":0,"waiting":0})");
  EXPECT_THAT(plain, HasSubstr("keys        not in use"));
  EXPECT_THAT(plain, HasSubstr("warning     WITHOUT KEYS"));
}

TEST(StatusReport, agentsDownAndMissing) {
  const auto hosts = json::parse(
      R"({"hosts":[{"host":"a","alive":false,"last_seen":"2026-11-21T03:00:09Z"},{"host":"b","alive":true}],
          "unregistered":[{"address":"10.0.0.9","name":"gpu-9"},{"address":"10.0.0.8","name":"10.0.0.8"}]})");
  const auto report = reportStatus(healthyStatus(), hosts, someProbes(), json());
  EXPECT_THAT(
      report.problems,
      ElementsAre("1 agent(s) down: a (last seen 2026-11-21T03:00:09Z)",
                  "2 source(s) of the pinglist without an agent: gpu-9 (10.0.0.9), 10.0.0.8"));
}

TEST(StatusReport, manyAgentsDownAreCountedButNotAllNamed) {
  json hosts = {{"hosts", json::array()}, {"unregistered", json::array()}};
  for (int i = 0; i < 40; ++i) hosts["hosts"].push_back({{"host", "h"}, {"alive", false}});
  const auto report = reportStatus(healthyStatus(), hosts, someProbes(), json());
  ASSERT_EQ(report.problems.size(), 1U);
  EXPECT_THAT(report.problems[0], HasSubstr("40 agent(s) down"));
  EXPECT_THAT(report.problems[0], HasSubstr("and 30 more"));
}

TEST(StatusReport, rejectedPinglistRedisAndHistory) {
  json status = healthyStatus();
  status["pinglist"]["error"] = "pinglist.yaml:12:5: unknown key";
  status["not_ready"] = {"redis is not connected (unix:/x): refused"};
  status["history"]["error"] = "disk full";
  const auto report = reportStatus(status, healthyHosts(), someProbes(), json());
  EXPECT_THAT(report.problems,
              ElementsAre(HasSubstr("redis is not connected"), HasSubstr("disk full"),
                          HasSubstr("pinglist.yaml:12:5: unknown key")));
}

// So many open incidents, the first of them silenced.
json incidents(int count) {
  json made = {{"open", json::array()}};
  for (int i = 0; i < count; ++i) {
    made["open"].push_back({{"id", std::to_string(i)},
                            {"kind", "host"},
                            {"culprit", "gpu-" + std::to_string(i)},
                            {"severity", "very slow"},
                            {"closed", nullptr},
                            {"silenced_by", i == 0 ? json("3") : json()},
                            {"sentence", "46 of 46 pairs are very slow"}});
  }
  return made;
}

TEST(StatusReport, incidentsAreProblemsUnlessASilenceHidesThem) {
  json status = healthyStatus();
  status["severities"] = {{"ok", 12U}, {"very slow", 46U}, {"down", 0U}};
  const auto silenced = reportStatus(status, healthyHosts(), someProbes(), incidents(1));
  EXPECT_THAT(silenced.problems, IsEmpty());
  EXPECT_THAT(join(silenced.lines, "\n"), HasSubstr("incidents   1 open, 1 silenced"));
  EXPECT_THAT(join(silenced.lines, "\n"), HasSubstr("judged      12 ok, 46 very slow"));
  const auto report = reportStatus(status, healthyHosts(), someProbes(), incidents(2));
  EXPECT_THAT(report.problems,
              ElementsAre("incident 1: very slow host gpu-1: 46 of 46 pairs are very slow"));
  EXPECT_EQ(report.lines.front(), "NOT HEALTHY");
}

TEST(StatusReport, manyIncidentsAreCountedButNotAllNamed) {
  const auto report = reportStatus(healthyStatus(), healthyHosts(), someProbes(), incidents(9));
  ASSERT_EQ(report.problems.size(), 6U);
  EXPECT_EQ(report.problems.back(), "and 3 more incidents; 'pingloom incidents' shows them all");
}

TEST(StatusReport, histogramsThatAreLeftOutAreAWarning) {
  json status = healthyStatus();
  status["latency"] = {{"series", 9984U},
                       {"max_series", 10000U},
                       {"probes_left_out", 0U},
                       {"combinations_left_out", 0U}};
  const auto whole = reportStatus(status, healthyHosts(), someProbes(), json());
  EXPECT_THAT(join(whole.lines, "\n"), HasSubstr("latency     9984 series of histograms"));
  EXPECT_THAT(join(whole.lines, "\n"), Not(HasSubstr("rollup")));
  status["latency"]["combinations_left_out"] = 276U;
  const auto cut = reportStatus(status, healthyHosts(), someProbes(), json());
  EXPECT_THAT(join(cut.lines, "\n"),
              HasSubstr("warning     0 probes and 276 combinations of rollup labels have no "
                        "histogram: the limit is 10000 series"));
  EXPECT_THAT(cut.problems, IsEmpty());
}

TEST(StatusReport, aControllerThatDoesNotJudge) {
  const auto report = reportStatus(healthyStatus(), healthyHosts(), someProbes(), json());
  EXPECT_THAT(join(report.lines, "\n"), HasSubstr("incidents   -\n"));
}

TEST(StatusReport, documentsOfAnotherKindAreSurvived) {
  for (const char* text :
       {"null", "[]", "{}", "3", R"({"hosts":3,"probes":{"a":1},"not_ready":"x"})",
        R"({"pinglist":[],"hosts":[1,null],"probes":[7],"unregistered":[[]]})"}) {
    const json odd = json::parse(text);
    EXPECT_THAT(reportStatus(odd, odd, odd, odd).lines, Not(IsEmpty())) << text;
  }
}

}  // namespace
}  // namespace pingloom::cli::status_report_test
