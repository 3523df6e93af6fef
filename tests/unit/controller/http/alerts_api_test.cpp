// The targets of alerts over HTTP, with a command as the target.
#include <gmock/gmock.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "controller/http/api.h"
#include "controller/http/dashboard.h"
#include "unit/common/temporary_directory.h"
#include "unit/controller/http/small_board.h"
#include "unit/http/raw_client.h"

namespace pingloom::controller::alerts_api_test {
namespace {

using testing::HasSubstr;
using Json = nlohmann::json;

struct AlertsApiTest : testing::Test {
  void start() {
    AlertTarget target;
    target.name = "oncall";
    target.kind = AlertKind::kCommand;
    target.argv = {"/bin/sh", "-c", "echo paged; exit 3"};
    auto started = Alerts::start({target}, folder.path() / "alerts", small.board);
    ASSERT_TRUE(started) << started.error().text();
    alerts = std::move(*started);
  }

  pingloom::test::TemporaryDirectory folder;
  SmallBoard small;
  BurstBoard bursts;
  OrderBoard orders;
  std::unique_ptr<Alerts> alerts;
};

TEST_F(AlertsApiTest, ListsTheTargets) {
  EXPECT_EQ(Json::parse(api::alerts(small.board).body), Json::parse(R"({"targets":[]})"));
  small.board.publishAlerts(std::make_shared<const AlertStatuses>(
      AlertStatuses{{"a", "slack", 12, 3, 2, 1, "", 1'795'230'720 * kSecond},
                    {"b", "webhook", 0, 0, 0, 0, "no \"route\"", 0}}));
  const Json expected = Json::parse(R"([{"name":"a","kind":"slack","delivered":12,"failed":3,
    "dropped":2,"waiting":1,"last_error":null,"last_delivered":"2026-11-21T03:12:00Z"},
    {"name":"b","kind":"webhook","delivered":0,"failed":0,"dropped":0,"waiting":0,
     "last_error":"no \"route\"","last_delivered":null}])");
  EXPECT_EQ(Json::parse(api::alerts(small.board).body)["targets"], expected);
  const http::ServerCounters counters;
  Collectors collectors({}, small.board.pageAnomalies(), small.board.collectorRoster());
  EXPECT_EQ(Json::parse(api::status(small.board, counters).body)["alerts"], expected);
  const std::string text = api::metrics(small.board, bursts, counters, collectors).body;
  for (const char* line :
       {"pingloom_alerts_delivered_total{target=\"a\"} 12\n",
        "pingloom_alerts_failed_total{target=\"a\"} 3\n",
        "pingloom_alerts_dropped_total{target=\"a\"} 2\n",
        "pingloom_alerts_waiting{target=\"a\"} 1\n", "pingloom_alerts_waiting{target=\"b\"} 0\n"}) {
    EXPECT_THAT(text, HasSubstr(line));
  }
}

TEST_F(AlertsApiTest, TestsATarget) {
  start();
  DashboardOptions options;
  options.listen = *SocketAddress::parse("127.0.0.1:0");
  options.alerts = alerts.get();
  auto dashboard = Dashboard::start(options, small.board, bursts, orders);
  ASSERT_TRUE(dashboard);
  http::RawClient client((*dashboard)->address());
  const auto post = [&](const std::string& path) {
    client.send("POST " + path + " HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n\r\n");
    return client.response();
  };
  const auto tested = post("/api/v1/alerts/oncall/test");
  EXPECT_EQ(tested.status, 200U);
  EXPECT_EQ(Json::parse(tested.body), Json::parse(R"({"target":"oncall","delivered":false,
    "places":[{"place":"/bin/sh","delivered":false,"status":null,"answer":"paged\n",
               "error":"/bin/sh: ended with exit code 3"}]})"));
  EXPECT_EQ(post("/api/v1/alerts/oncal/test").status, 404U);
  EXPECT_EQ(post("/api/v1/alerts/oncall").status, 404U);
  EXPECT_EQ(post("/api/v1/alerts").status, 405U);
  EXPECT_EQ(client.get("/api/v1/alerts/oncall/test").status, 405U);
  EXPECT_EQ(client.get("/api/v1/alerts").status, 200U);
  EXPECT_THAT(client.get("/api/v1/alerts?format=csv").body, HasSubstr("oncall,command,0"));
}

TEST_F(AlertsApiTest, WithoutTargetsThereIsNothingToTest) {
  auto answer = api::testAlert(nullptr, "oncall/test");
  EXPECT_EQ(std::get<http::Response>(answer).status, 404U);
}

}  // namespace
}  // namespace pingloom::controller::alerts_api_test
