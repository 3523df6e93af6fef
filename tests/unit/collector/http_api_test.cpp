// What the collector says over HTTP, of a board that the test writes.
#include "collector/http_api.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <nlohmann/json.hpp>

#include "../pages/raw_exemplar.h"
#include "collector/watch/watcher.h"
#include "http/target.h"
#include "unit/eventually.h"

namespace pingloom::collector::http_api_test {
namespace {

using testing::HasSubstr;

class HttpApi : public testing::Test {
 protected:
  HttpApi() {
    for (const char* host : {"a", "b"}) {
      const std::string agent = std::string("10.0.0.1:") + (host[0] == 'a' ? "1" : "2");
      entries.push_back(board.add(agent));
      entries.back()->update([&](AgentView& view) {
        view.agent = agent;
        view.host = host;
        view.left_out.resize(1);
      });
    }
  }
  static http::Request requestOf(const std::string& target) {
    const auto parsed = http::parseTarget(target);
    http::Request request;
    request.method = "GET";
    request.path = parsed->path;
    request.query = parsed->query;
    request.doubled = parsed->doubled;
    return request;
  }
  http::Response get(const std::string& target) const {
    return answer({board, nullptr, counters}, requestOf(target));
  }
  std::vector<std::string> hosts(const std::string& target) const {
    std::vector<std::string> names;
    const auto document = nlohmann::json::parse(get(target).body);
    for (const auto& agent : document.at("agents")) {
      names.push_back(agent.at("host"));
      EXPECT_EQ(agent.at("pages").size(), 1U);
    }
    return names;
  }

  Board board;
  std::vector<std::shared_ptr<BoardEntry>> entries;
  http::ServerCounters counters;
};

TEST_F(HttpApi, SamplingIsOfAWatchedApplication) {
  EXPECT_EQ(get("/api/v1/sampling?application=queue").status, 404U);  // nothing is watched
  auto info = std::make_shared<PageInfo>();
  info->application = "queue";
  info->schema.resize(1);
  info->schema[0].kind = PINGLOOM_GAUGE;
  info->schema[0].name = "depth";
  info->schema[0].slots = 1;
  info->slots = 1;
  entries[0]->update([&](AgentView& view) {
    PageView& page = view.pages.emplace_back();
    setInfo(view, page, info, entries[0]->names());
    page.state = PageState::kFresh;
    page.slots = 1;
    page.values = {std::bit_cast<std::uint64_t>(5.0)};
    page.read = 1;
  });
  WatchSettings settings;
  settings.trace_one_in = 50;
  settings.limits.push_back(
      {"depth", analytics::ThresholdRule::Side::kAbove, 4, {.raise = 1, .window = 1}});
  Watcher watcher(board, settings);
  ASSERT_TRUE(test::eventually([&] { return !watcher.events().empty(); }));
  const auto ask = [&](const std::string& target) {
    return answer({board, &watcher, counters}, requestOf(target));
  };
  const auto listed = nlohmann::json::parse(ask("/api/v1/applications").body);
  EXPECT_EQ(listed.at("watched"), true);
  EXPECT_EQ(listed.at("events"), 1);
  ASSERT_EQ(listed.at("applications").size(), 1U);
  EXPECT_EQ(listed.at("applications").at(0),
            nlohmann::json::parse(R"({"host":"a","agent":"10.0.0.1:1","application":"queue","pid":0,
              "owner":0,"pages":1,"metrics":1,"state":"fresh","anomalous":true,"score":null,
              "deviation":null})"));
  EXPECT_EQ(ask("/api/v1/applications?host=a").status, 400U);
  EXPECT_EQ(nlohmann::json::parse(get("/api/v1/applications").body).at("watched"), false);
  const auto state = nlohmann::json::parse(ask("/api/v1/sampling?application=queue").body);
  EXPECT_EQ(state.at("anomalous"), true);
  EXPECT_EQ(state.at("keep_one_in"), 1);
  EXPECT_EQ(state.at("hosts"), nlohmann::json::array({"a"}));
  EXPECT_EQ(ask("/api/v1/sampling?application=other").status, 404U);
  EXPECT_EQ(ask("/api/v1/sampling").status, 400U);
  settings.limits.clear();
  watcher.reload(settings);
  const auto quiet = [&] {
    const auto now = nlohmann::json::parse(ask("/api/v1/sampling?application=queue").body);
    return now.value("keep_one_in", 0) == 50;
  };
  EXPECT_TRUE(test::eventually(quiet));
  const auto event = nlohmann::json::parse(ask("/api/v1/events").body).at("events").at(0);
  EXPECT_EQ(event.at("metric"), "depth");
  EXPECT_EQ(event.at("statistic"), nullptr);
  EXPECT_EQ(event.at("deviations"), nlohmann::json::array());
}

TEST_F(HttpApi, PagesAreOfAllAgentsOrOfTheOneAskedFor) {
  EXPECT_THAT(hosts("/api/v1/pages"), testing::ElementsAre("a", "b"));
  EXPECT_THAT(hosts("/api/v1/pages?agent=b"), testing::ElementsAre("b"));
  EXPECT_THAT(hosts("/api/v1/pages?agent=10.0.0.1:1"), testing::ElementsAre("a"));
  const auto none = get("/api/v1/pages?agent=c");
  EXPECT_EQ(none.status, 404U);
  EXPECT_THAT(none.body, HasSubstr("there are a (10.0.0.1:1), b (10.0.0.1:2)"));
  for (const auto& entry : entries) board.remove(entry);
  EXPECT_EQ(get("/api/v1/pages").body, "{\"agents\":[]}\n");
}

TEST_F(HttpApi, AMetricUnderAnotherNameHasAWarning) {
  for (const auto kind : {PINGLOOM_GAUGE, PINGLOOM_COUNTER}) {
    auto info = std::make_shared<PageInfo>();
    info->application = kind == PINGLOOM_GAUGE ? "queue" : "shop";
    info->schema.resize(1);
    info->schema[0].kind = kind;
    info->schema[0].name = "jobs";
    info->schema[0].slots = 1;
    entries[0]->update([&](AgentView& view) {
      PageView& page = view.pages.emplace_back();
      setInfo(view, page, info, entries[0]->names());
      page.slots = 1;
      page.values = {0};
    });
  }
  const auto document = nlohmann::json::parse(get("/api/v1/pages").body);
  const auto& agent = document.at("agents").at(0);
  EXPECT_FALSE(agent.at("pages").at(0).at("metrics").at(0).contains("shown_as"));
  EXPECT_EQ(agent.at("pages").at(1).at("metrics").at(0).at("shown_as"), "jobs_counter");
  ASSERT_EQ(agent.at("warnings").size(), 1U);
  EXPECT_THAT(agent.at("warnings").at(0).get<std::string>(),
              testing::AllOf(HasSubstr("'shop'"), HasSubstr("'queue'")));
  EXPECT_EQ(document.at("agents").at(1).at("warnings").size(), 0U);
}

TEST_F(HttpApi, AMetricHasTheTracesOfItsValues) {
  auto info = std::make_shared<PageInfo>();
  info->schema.resize(2);
  for (std::size_t i = 0; i < 2; ++i) {
    pages::Metric& metric = info->schema[i];
    metric.kind = PINGLOOM_COUNTER;
    metric.name = i == 0 ? "busy_seconds_total" : "jobs_total";
    metric.unit = i == 0 ? 1e-3 : 1;
    metric.exemplars = true;
    metric.slots = 1;
    metric.first_slot = static_cast<std::uint16_t>(i * (1 + PINGLOOM_EXEMPLAR_SLOTS));
  }
  const auto second = static_cast<std::uint64_t>(utcNow() / kSecond * kSecond);
  const auto traced =
      pages::test::RawExemplar{{{"trace_id", "a\"b"}, {"span_id", "c"}}, 250, second}.slots();
  entries[0]->update([&](AgentView& view) {
    PageView& page = view.pages.emplace_back();
    setInfo(view, page, info, entries[0]->names());
    page.values = {500};
    page.values.insert(page.values.end(), traced.begin(), traced.end());
    page.values.resize(2 * page.values.size());
    page.slots = static_cast<std::uint32_t>(page.values.size());
  });
  const auto document = nlohmann::json::parse(get("/api/v1/pages").body);
  const auto& metrics = document.at("agents").at(0).at("pages").at(0).at("metrics");
  ASSERT_EQ(metrics.size(), 2U);
  const nlohmann::json expected = {{{"time", formatUtc(static_cast<Nanos>(second))},
                                    {"value", 0.25},
                                    {"labels", {{"trace_id", "a\"b"}, {"span_id", "c"}}}}};
  EXPECT_EQ(metrics.at(0).at("exemplars"), expected);
  EXPECT_FALSE(metrics.at(1).contains("exemplars"));  // nothing was written there
}

TEST_F(HttpApi, WhatAQuestionHasBesideIsRefused) {
  for (const auto& [target, reason] : std::vector<std::pair<std::string, std::string>>{
           {"/api/v1/pages?agnet=a", "unknown parameter 'agnet' (did you mean 'agent'?)"},
           {"/api/v1/pages?agent=a&agent=b", "the parameter 'agent' is given twice"}}) {
    const auto refused = get(target);
    EXPECT_EQ(refused.status, 400U) << target;
    EXPECT_THAT(refused.body, HasSubstr(reason));
  }
  EXPECT_EQ(get("/api/v1/page?agent=a").status, 404U);
  EXPECT_EQ(get("/metrics?collect[]=a").status, 200U) << "scrapers add what they like";
}

}  // namespace
}  // namespace pingloom::collector::http_api_test
