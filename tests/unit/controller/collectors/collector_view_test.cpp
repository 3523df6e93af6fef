#include "controller/collectors/collector_view.h"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

namespace pingloom::controller::collector_view_test {
namespace {

using Json = nlohmann::json;

Json application(const std::string& host) {
  return {{"host", host},
          {"application", "trainer"},
          {"pid", 7},
          {"owner", 3},
          {"pages", 1},
          {"metrics", 4},
          {"state", "fresh"},
          {"anomalous", true},
          {"score", 2.5},
          {"extra", "dropped"},
          {"agent", "10.0.0.1:20714"},
          {"deviation",
           {{"metric", "step_seconds"},
            {"part", "mean"},
            {"statistic", "peers"},
            {"score", 2.5},
            {"value", 0.015},
            {"peers", 0.01}}}};
}

Json event() {
  return {{"time", "2026-11-21T03:12:00Z"},
          {"kind", "anomaly"},
          {"began", true},
          {"host", "gpu-1"},
          {"application", "trainer"},
          {"pid", 7},
          {"owner", 3},
          {"statistic", "peers"},
          {"metric", "step_seconds"},
          {"value", 2.5},
          {"limit", 1},
          {"deviations", Json::array({application("x")["deviation"], 7})}};
}

TEST(CollectorView, KeepsWhatIsKnownOfAnApplication) {
  const auto parsed = parseApplications(
      Json{{"watched", true}, {"events", 12}, {"applications", {application("gpu-1")}}}.dump());
  ASSERT_TRUE(parsed);
  EXPECT_TRUE(parsed->watched);
  EXPECT_EQ(parsed->events, 12U);
  ASSERT_EQ(parsed->applications.records.size(), 1U);
  const CollectorRecord& record = parsed->applications.records.front();
  EXPECT_EQ(record.host, "gpu-1");
  auto expected = application("gpu-1");
  expected.erase("extra");
  expected.erase("agent");
  expected["deviation"]["usual"] = nullptr;  // a collector of an earlier version does not say it
  EXPECT_EQ(Json::parse(record.json), expected);
  ASSERT_EQ(parsed->anomalies.size(), 1U);
  EXPECT_EQ(parsed->anomalies[0].host, "gpu-1");
  EXPECT_EQ(parsed->anomalies[0].metric, "step_seconds");
  EXPECT_EQ(parsed->anomalies[0].peers, 0.01);
}

TEST(CollectorView, KeepsWhatIsUsualAtThisTimeIfItIsANumber) {
  for (const auto& [told, kept] :
       std::vector<std::pair<Json, Json>>{{90.5, 90.5}, {nullptr, nullptr}, {"90", nullptr}}) {
    auto from = application("gpu-1");
    from["deviation"]["usual"] = told;
    const auto parsed =
        parseApplications(Json{{"watched", true}, {"events", 0}, {"applications", {from}}}.dump());
    ASSERT_TRUE(parsed);
    ASSERT_EQ(parsed->applications.records.size(), 1U);
    const Json record = Json::parse(parsed->applications.records.front().json);
    EXPECT_EQ(record["deviation"]["usual"], kept);
  }
}

TEST(CollectorView, RefusesWhatIsMalformedOneByOne) {
  Json list = Json::array({7, application("gpu-1"), Json::object()});
  for (const auto& [key, wrong] : std::vector<std::pair<std::string, Json>>{
           {"host", 5},
           {"pid", -1},
           {"score", "high"},
           {"anomalous", nullptr},
           {"application", std::string(CollectorRecords::kMaxText + 1, 'x')}}) {
    list.push_back(application("gpu-1"));
    list.back()[key] = wrong;
  }
  const auto parsed = parseApplications(Json{{"applications", list}}.dump());
  ASSERT_TRUE(parsed);
  EXPECT_EQ(parsed->applications.records.size(), 1U);
  EXPECT_EQ(parsed->applications.malformed, list.size() - 1);
}

TEST(CollectorView, KeepsTheNewestEventsWithinTheBound) {
  Json list = Json::array();
  for (std::size_t i = 0; i < CollectorRecords::kMaxEvents + 2; ++i) {
    list.push_back(event());
    list.back()["pid"] = i;
  }
  list[5]["time"] = "yesterday";
  const auto parsed = parseEvents(Json{{"events", list}}.dump());
  ASSERT_TRUE(parsed);
  EXPECT_EQ(parsed->beyond, 2U);
  EXPECT_EQ(parsed->malformed, 1U);
  EXPECT_EQ(parsed->records.size(), CollectorRecords::kMaxEvents - 1);
  const CollectorRecord& first = parsed->records.front();
  EXPECT_EQ(formatUtc(first.utc), "2026-11-21T03:12:00Z");
  const auto json = Json::parse(first.json);
  EXPECT_EQ(json["pid"], 2);
  EXPECT_EQ(json["deviations"].size(), 1U);  // the malformed one is left out
}

TEST(CollectorView, RefusesWholeDocuments) {
  const std::string deep = std::string(100'000, '[') + std::string(100'000, ']');
  for (const std::string& text :
       {std::string(), std::string("[]"), std::string("{\"applications\":7,\"events\":7}"),
        std::string("{\"applications\":["), deep, "{\"applications\":" + deep + "}",
        "{\"events\":" + deep + "}", "{\"agents\":" + deep + "}"}) {
    EXPECT_FALSE(parseApplications(text)) << text.substr(0, 40);
    EXPECT_FALSE(parseEvents(text)) << text.substr(0, 40);
    EXPECT_FALSE(isPagesDocument(text)) << text.substr(0, 40);
  }
  EXPECT_TRUE(isPagesDocument(R"({"agents":[]})"));
  const std::string exemplars = R"("value":{"quantiles":[{"quantile":0.5,"value":1}]},)"
                                R"("exemplars":[{"value":0.2,"labels":{"trace_id":"4bf9"}}])";
  EXPECT_TRUE(isPagesDocument(R"({"agents":[{"pages":[{"metrics":[{)" + exemplars + "}]}]}]}"));
  // An object of many members would take a time that grows with their square.
  std::string wide = "{\"applications\":[],\"events\":[],\"agents\":[]";
  for (int i = 0; i < 200'000; ++i) wide += ",\"" + std::to_string(i) + "\":0";
  wide += "}";
  EXPECT_FALSE(parseApplications(wide));
  EXPECT_FALSE(parseEvents(wide));
  EXPECT_FALSE(isPagesDocument(wide));
}

}  // namespace
}  // namespace pingloom::controller::collector_view_test
