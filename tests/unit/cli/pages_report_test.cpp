#include "cli/pages_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace pingloom::cli::pages_report_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

PageMetric counter(const std::string& name, std::uint64_t count) {
  PageMetric metric;
  metric.name = name;
  metric.kind = "counter";
  metric.count = count;
  return metric;
}

PageMetric histogram(const std::string& name) {
  PageMetric metric = counter(name, 4);
  metric.kind = "histogram";
  metric.value = 0.5;
  metric.p50 = 0.1;
  metric.p99 = 0.25;
  return metric;
}

PagesDocument twoPages() {
  PagesAgent agent;
  agent.agent = "10.0.0.1:20714";
  agent.host = "gpu-1";
  agent.state = "reading";
  agent.pages.push_back({"7", "queue", "41", "fresh", 1.0, {counter("jobs_total", 12)}});
  agent.pages.push_back({"8", "orders", "42", "fresh", 1.0, {histogram("order_seconds")}});
  return {agent};
}

std::vector<std::string> texts(const std::vector<ReportLine>& lines) {
  std::vector<std::string> all;
  for (const ReportLine& line : lines) all.push_back(line.text);
  return all;
}

TEST(PagesReport, aTableForEachAgent) {
  EXPECT_THAT(texts(pagesLines(twoPages(), {})),
              ElementsAre("gpu-1 (10.0.0.1:20714): reading, 2 pages, 2 metrics",
                          "APPLICATION  PID  STATE  METRIC         KIND       VALUE",
                          "queue        41   fresh  jobs_total     counter    12",
                          "orders       42   fresh  order_seconds  histogram  count 4, mean 0.125, "
                          "p50 0.1, p99 0.25"));
}

TEST(PagesReport, exemplarsFollowTheTableWhereTheyAreAskedFor) {
  auto document = twoPages();
  document[0].pages[1].metrics[0].exemplars = {
      {"2026-11-21T03:12:00Z", "{trace_id=\"4bf9\"}", 0.2}};
  EXPECT_EQ(pagesLines(document, {}).size(), 4U);
  const auto lines = texts(pagesLines(document, {false, 0, true}));
  ASSERT_EQ(lines.size(), 5U);
  EXPECT_EQ(
      lines[4],
      "exemplar: {trace_id=\"4bf9\"} order_seconds 0.2 at 2026-11-21T03:12:00Z, orders (pid 42)");
}

TEST(PagesReport, aSummaryShowsTheQuantilesThatItHas) {
  auto document = twoPages();
  PageMetric& metric = document[0].pages[1].metrics[0];
  metric.kind = "summary";
  metric.p99.reset();
  EXPECT_THAT(texts(pagesLines(document, {})).back(),
              testing::EndsWith("summary  count 4, mean 0.125, p50 0.1"));
}

TEST(PagesReport, rates) {
  auto document = twoPages();
  document[0].pages[0].metrics[0].rate = 1234.5;
  const auto lines = texts(pagesLines(document, {true, 0}));
  EXPECT_THAT(lines.at(1), HasSubstr("RATE"));
  EXPECT_THAT(lines.at(2), HasSubstr("1234.5/s  12"));
  EXPECT_THAT(lines.at(3), HasSubstr("-         count 4"));  // not known yet
}

TEST(PagesReport, metricsAreCutSoThatValuesFit) {
  auto document = twoPages();
  std::string name = "x";
  for (int i = 0; i < 100; ++i) name += "\xc3\xa9";  // two bytes each
  document[0].pages.pop_back();
  document[0].pages[0].metrics[0].name = name;
  const auto lines = texts(pagesLines(document, {false, 80}));
  EXPECT_LE(lines.at(2).size(), 80U);
  EXPECT_THAT(lines[2], HasSubstr("\xc3\xa9...  counter  12"));
}

TEST(PagesReport, warningsFollowTheTable) {
  auto document = twoPages();
  document[0].warnings = {"gauge 'jobs' is shown as 'jobs_gauge'"};
  EXPECT_EQ(texts(pagesLines(document, {})).back(),
            "warning: gauge 'jobs' is shown as 'jobs_gauge'");
}

TEST(PagesReport, anomaliesFollowTheTable) {
  auto document = twoPages();
  document[0].anomalies = {{"trainer", "7", "step_seconds p99", "peers", 3.25, 0.9, 0.3, {}},
                           {"trainer", "7", "calls rate", "season", -1.5, 40, {}, 90},
                           {"trainer", "7", "depth", "peak", -2, 1, std::nullopt, {}}};
  const auto lines = texts(pagesLines(document, {}));
  EXPECT_EQ(lines.at(lines.size() - 2),
            "anomaly: trainer (pid 7): calls rate is 40, usual at this time 90 (season, score "
            "-1.50)");
  EXPECT_EQ(lines.at(lines.size() - 3),
            "anomaly: trainer (pid 7): step_seconds p99 is 0.9, that of its peers 0.3 (peers, "
            "score 3.25)");
  EXPECT_EQ(lines.back(), "anomaly: trainer (pid 7): depth is 1 (peak, score -2.00)");
}

TEST(PagesReport, allIsWell) { EXPECT_THAT(pagesProblems(twoPages()), IsEmpty()); }

TEST(PagesReport, namesWhatIsNot) {
  auto document = twoPages();
  document[0].pages[0].state = "stale";
  document[0].pages[1].metrics.clear();
  PagesAgent dead;
  dead.agent = "10.0.0.2:20714";
  dead.state = "failed";
  dead.problem = "no answer";
  document.push_back(dead);
  EXPECT_THAT(pagesProblems(document),
              ElementsAre("gpu-1 (10.0.0.1:20714): the page of queue (pid 41) is stale",
                          "gpu-1 (10.0.0.1:20714): the page of orders (pid 42) has no metrics",
                          "10.0.0.2:20714: failed: no answer", "10.0.0.2:20714: no page"));
  const auto lines = pagesLines(document, {});
  EXPECT_EQ(lines.at(2).style, LineStyle::kBad);
  EXPECT_EQ(lines.at(3).style, LineStyle::kBad);
  EXPECT_EQ(lines.back().text, "10.0.0.2:20714: failed: no answer");
}

TEST(PagesReport, noAgentIsAProblem) {
  EXPECT_THAT(pagesProblems({}), Not(IsEmpty()));
  EXPECT_THAT(pagesLines({}, {}), Not(IsEmpty()));
}

}  // namespace
}  // namespace pingloom::cli::pages_report_test
