// pingloom/prometheus_cpp_collectable.hpp with the real prometheus-cpp: what its endpoint would
// show.
#include <gtest/gtest.h>
#include <prometheus/text_serializer.h>

#include <pingloom/prometheus_cpp_collectable.hpp>
#include <string>

#include "unit/pages/client/published_metrics.h"

namespace pingloom::pages::test::collectable_test {
namespace {

class Collectable : public testing::Test {
 protected:
  static PagesOptions options(const SocketFolder& folder) {
    PagesOptions made;
    made.application = "tested";
    made.socket = folder.socket();
    return made;
  }
  std::string text() const { return prometheus::TextSerializer().Serialize(shown.Collect()); }

  SocketFolder folder;
  ScriptedAgent agent{folder.socket()};
  pingloom::Pages pages{options(folder)};
  CollectablePages shown{pages};
};

TEST_F(Collectable, WhatIsInThePagesIsShown) {
  MetricOptions busy{"busy_seconds_total", "Time at work."};
  busy.unit = 1e-9;
  shown.counter(busy).add(2'500'000'000);
  shown.sharedCounter({"orders_total", "Orders.", {{"till", "1"}}}).add(3);
  shown.sharedCounter({"orders_total", "Orders.", {{"till", "2"}}}).add(4);
  MetricOptions waiting{"waiting", "Orders that wait."};
  waiting.unit = 1e-3;
  shown.gauge(waiting).set(-1500);
  const auto spent = shown.fractionCounter({"spent_total", "Money."});
  spent.add(0.5);
  spent.add(0.25);
  const auto took = shown.boundedHistogram({"bytes", "Sizes."}, {10, 100});
  took.observe(7, 7);
  took.observe(50, 50);
  took.observe(1000, 1000);
  EXPECT_EQ(text(),
            "# HELP busy_seconds_total Time at work.\n"
            "# TYPE busy_seconds_total counter\n"
            "busy_seconds_total 2.5\n"
            "# HELP bytes Sizes.\n"
            "# TYPE bytes histogram\n"
            "bytes_count 3\n"
            "bytes_sum 1057\n"
            "bytes_bucket{le=\"10\"} 1\n"
            "bytes_bucket{le=\"100\"} 2\n"
            "bytes_bucket{le=\"+Inf\"} 3\n"
            "# HELP orders_total Orders.\n"
            "# TYPE orders_total counter\n"
            "orders_total{till=\"1\"} 3\n"
            "orders_total{till=\"2\"} 4\n"
            "# HELP spent_total Money.\n"
            "# TYPE spent_total counter\n"
            "spent_total 0.75\n"
            "# HELP waiting Orders that wait.\n"
            "# TYPE waiting gauge\n"
            "waiting -1.5\n");
  ASSERT_TRUE(eventually([this] { return pages.status().known_metrics == 6; }));
  EXPECT_EQ(publishedGauge(agent, "waiting"), -1.5) << "and the agent has it";
  EXPECT_EQ(publishedCounter(agent, "spent_total"), 0.75);
}

TEST_F(Collectable, HistogramsHaveTheBoundsOfTheirShapeInTheirUnit) {
  MetricOptions options{"order_seconds", "How long."};
  options.unit = 1e-9;
  const auto took = shown.sharedHistogram(options);
  took.observe(1'000'000);
  const auto families = shown.Collect();
  const auto& histogram = families.at(0).metric.at(0).histogram;
  EXPECT_EQ(histogram.sample_count, 1U);
  EXPECT_DOUBLE_EQ(histogram.sample_sum, 0.001);
  ASSERT_GT(histogram.bucket.size(), 20U);
  std::uint64_t before = 0;
  double bound = 0;
  for (const auto& bucket : histogram.bucket) {
    EXPECT_EQ(bucket.cumulative_count, bucket.upper_bound >= 0.001 ? 1U : 0U);
    EXPECT_GT(bucket.upper_bound, bound);
    EXPECT_GE(bucket.cumulative_count, before);
    before = bucket.cumulative_count;
    bound = bucket.upper_bound;
  }
}

TEST_F(Collectable, WhatCouldNotBeMadeOrWasRemovedIsNotShown) {
  shown.sharedCounter({"jobs_total", "Jobs."}).add(1);
  EXPECT_FALSE(pages.lastError().size() > 0);
  shown.gauge({"jobs_total", "Another kind."}).set(5);
  shown.gauge({"no name", ""}).set(5);
  shown.boundedHistogram({"bytes", ""}, {3, 2}).observe(1, 1);
  EXPECT_EQ(shown.Collect().size(), 1U);
  shown.sharedCounter({"jobs_total", "Jobs."}).add(1);
  EXPECT_NE(text().find("jobs_total 2\n"), std::string::npos) << "made twice, it is one metric";
  EXPECT_FALSE(shown.remove({"jobs_total", "", {{"a", "b"}}}));
  EXPECT_TRUE(shown.remove({"jobs_total", ""}));
  EXPECT_FALSE(shown.remove({"jobs_total", ""}));
  EXPECT_EQ(text(), "");
}

}  // namespace
}  // namespace pingloom::pages::test::collectable_test
