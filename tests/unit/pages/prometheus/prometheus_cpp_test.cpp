// pingloom/prometheus_cpp.hpp with the real prometheus-cpp: what an agent gets of a registry.
#include <gtest/gtest.h>
#include <prometheus/counter.h>
#include <prometheus/gauge.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>
#include <prometheus/summary.h>

#include <atomic>
#include <bit>
#include <cmath>
#include <pingloom/prometheus_cpp.hpp>
#include <stdexcept>

#include "pages/schema.h"
#include "unit/pages/client/published_metrics.h"

namespace pingloom::pages::test::prometheus_cpp_test {
namespace {

using std::chrono::milliseconds;

class PrometheusCpp : public testing::Test {
 protected:
  void publish(const std::shared_ptr<prometheus::Collectable>& source) {
    PagesOptions options;
    options.application = "tested";
    options.socket = folder.socket();
    pages = std::make_unique<PrometheusPages>(source, options, milliseconds(20));
    ASSERT_TRUE(eventually([this] {
      const auto now = pages->status();
      return now.connected != 0 && now.metrics == now.known_metrics;
    }));
  }
  std::pair<Metric, std::vector<std::uint64_t>> metric(const std::string& name,
                                                       const std::string& label = "") const {
    return publishedMetric(agent, name, label);
  }
  double counter(const std::string& name) const { return publishedCounter(agent, name); }
  double gauge(const std::string& name, const std::string& label = "") const {
    return publishedGauge(agent, name, label);
  }

  SocketFolder folder;
  ScriptedAgent agent{folder.socket()};
  std::shared_ptr<prometheus::Registry> registry = std::make_shared<prometheus::Registry>();
  std::unique_ptr<PrometheusPages> pages;
};

TEST_F(PrometheusCpp, EveryKindIsPublishedAndFollowsItsUpdates) {
  auto& orders = prometheus::BuildCounter()
                     .Name("orders_total")
                     .Help("Orders.")
                     .Register(*registry)
                     .Add({{"till", "1"}});
  auto& busy = prometheus::BuildCounter().Name("busy_seconds_total").Register(*registry).Add({});
  auto& open = prometheus::BuildGauge().Name("open_orders").Register(*registry).Add({});
  auto& took = prometheus::BuildHistogram()
                   .Name("order_seconds")
                   .Register(*registry)
                   .Add({}, prometheus::Histogram::BucketBoundaries{0.005, 0.1, 2.5});
  auto& size = prometheus::BuildSummary()
                   .Name("order_bytes")
                   .Register(*registry)
                   .Add({}, prometheus::Summary::Quantiles{{0.9, 0.05}, {0.5, 0.05}});
  orders.Increment(41);
  busy.Increment(0.125);
  open.Set(-2.5);
  for (const double seconds : {0.005, 0.006, 0.1, 7.0}) took.Observe(seconds);
  size.Observe(100);
  publish(registry);
  EXPECT_EQ(counter("orders_total"), 41);
  EXPECT_EQ(metric("orders_total").first.labels, (pages::Labels{{"till", "1"}}));
  EXPECT_EQ(metric("orders_total").first.help, "Orders.");
  EXPECT_EQ(counter("busy_seconds_total"), 0.125);
  EXPECT_EQ(gauge("open_orders"), -2.5);
  const auto [histogram, slots] = metric("order_seconds");
  EXPECT_EQ(histogram.bounds, (std::vector<double>{0.005, 0.1, 2.5}));
  EXPECT_EQ(slots, (std::vector<std::uint64_t>{7'111'000'000, 1, 2, 0, 1}));
  const auto [summary, values] = metric("order_bytes");
  EXPECT_EQ(summary.quantiles, (std::vector<double>{0.5, 0.9})) << "they are ascending";
  ASSERT_EQ(values.size(), 4U);
  EXPECT_EQ(values[0], 1U);
  for (int i = 1; i < 4; ++i) EXPECT_EQ(std::bit_cast<double>(values[i]), 100) << i;
  orders.Increment(0.5);
  took.Observe(0.001);
  EXPECT_TRUE(eventually([this] { return counter("orders_total") == 41.5; }));
  EXPECT_TRUE(eventually([this] { return metric("order_seconds").second.at(1) == 2; }));
  EXPECT_TRUE(pages->errors().empty());
}

TEST_F(PrometheusCpp, MetricsComeLaterAndAreRemoved) {
  auto& family = prometheus::BuildGauge().Name("depth").Register(*registry);
  auto& first = family.Add({{"queue", "a"}});
  first.Set(1);
  publish(registry);
  family.Add({{"queue", "b"}}).Set(2);
  EXPECT_TRUE(eventually([this] { return gauge("depth", "b") == 2; }));
  family.Remove(&first);
  EXPECT_TRUE(eventually([this] { return pages->status().metrics == 1; }));
  EXPECT_EQ(gauge("depth", "b"), 2);
  family.Add({{"queue", "a"}}).Set(3);
  EXPECT_TRUE(eventually([this] { return gauge("depth", "a") == 3; }));
  auto& calls = prometheus::BuildCounter().Name("calls_total").Register(*registry);
  auto& counted = calls.Add({});
  counted.Increment(5);
  EXPECT_TRUE(eventually([this] { return counter("calls_total") == 5; }));
  calls.Remove(&counted);
  EXPECT_TRUE(eventually([this] { return pages->status().metrics == 2; }));
  EXPECT_TRUE(pages->errors().empty());
}

// Collects what a page does not hold, and fails from time to time.
class Odd : public prometheus::Collectable {
 public:
  std::vector<prometheus::MetricFamily> Collect() const override {
    if (++calls > 1 && calls < 4) throw std::runtime_error("not now");
    prometheus::MetricFamily bad{"has blank", "", prometheus::MetricType::Gauge, {{}}};
    prometheus::MetricFamily huge{"huge_bytes_total", "", prometheus::MetricType::Counter, {{}}};
    huge.metric[0].counter.value = 1e30;
    prometheus::MetricFamily untyped{"untyped", "", prometheus::MetricType::Untyped, {{}}};
    untyped.metric[0].untyped.value = calls;
    return {bad, huge, untyped};
  }
  mutable std::atomic<int> calls{0};
};

TEST_F(PrometheusCpp, WhatCannotBePublishedIsToldAndTheRestIsThere) {
  publish(std::make_shared<Odd>());
  EXPECT_EQ(pages->errors().at("has blank"), "'has blank': not a metric's name");
  EXPECT_EQ(counter("huge_bytes_total"), 1e30);
  EXPECT_TRUE(eventually([this] { return gauge("untyped") >= 4; })) << "a failure is not the end";
  EXPECT_EQ(pages->errors().at("Collect"), "not now");
}

}  // namespace
}  // namespace pingloom::pages::test::prometheus_cpp_test
