// pingloom/opentelemetry_cpp.hpp with what the SDK hands to an exporter, by its published
// interface.
#include <gtest/gtest.h>

#include <locale>
#include <pingloom/opentelemetry_cpp.hpp>
#include <stdexcept>

#include "unit/pages/client/published_metrics.h"

namespace pingloom::pages::test::opentelemetry_cpp_test {
namespace {

namespace sdk = opentelemetry::sdk::metrics;
using Result = opentelemetry::sdk::common::ExportResult;

sdk::MetricData metric(const std::string& name, const std::string& unit,
                       std::vector<sdk::PointDataAttributes> points) {
  sdk::MetricData made;
  made.instrument_descriptor = {name, "Help.", unit, sdk::InstrumentType::kCounter,
                                sdk::InstrumentValueType::kDouble};
  made.aggregation_temporality = sdk::AggregationTemporality::kCumulative;
  made.point_data_attr_ = std::move(points);
  return made;
}
sdk::SumPointData sum(sdk::ValueType value, bool monotonic = true) {
  sdk::SumPointData made;
  made.value_ = value;
  made.is_monotonic_ = monotonic;
  return made;
}
sdk::LastValuePointData last(double value, bool valid = true) {
  sdk::LastValuePointData made;
  made.value_ = value;
  made.is_lastvalue_valid_ = valid;
  return made;
}
sdk::HistogramPointData histogram(std::vector<double> bounds, std::vector<std::uint64_t> counts,
                                  double total) {
  sdk::HistogramPointData made;
  made.boundaries_ = std::move(bounds);
  made.counts_ = std::move(counts);
  made.sum_ = total;
  return made;
}

class OpenTelemetryCpp : public testing::Test {
 protected:
  OpenTelemetryCpp() : exporter(optionsFor(folder.socket())) {}
  static PagesOptions optionsFor(const std::string& socket) {
    PagesOptions options;
    options.application = "tested";
    options.socket = socket;
    return options;
  }
  // Exports the metrics in two scopes, as an SDK with two meters does, and waits for the agent.
  void exportAll(std::vector<sdk::MetricData> metrics) {
    sdk::ResourceMetrics data;
    data.scope_metric_data_.resize(2);
    for (auto& one : metrics) {
      auto& scope =
          data.scope_metric_data_[data.scope_metric_data_[0].metric_data_.empty() ? 0 : 1];
      scope.metric_data_.push_back(std::move(one));
    }
    EXPECT_EQ(exporter.Export(data), Result::kSuccess);
    EXPECT_TRUE(eventually([this] {
      const auto now = exporter.status();
      return now.connected != 0 && now.metrics == now.known_metrics;
    }));
  }
  std::vector<std::uint64_t> slots(const std::string& name) const {
    return publishedMetric(agent, name).second;
  }

  SocketFolder folder;
  ScriptedAgent agent{folder.socket()};
  PagesMetricExporter exporter;
};

TEST_F(OpenTelemetryCpp, EveryKindIsPublishedAndFollowsItsUpdates) {
  const auto all = [](std::int64_t done, double load) {
    return std::vector<sdk::MetricData>{
        metric("jobs.done", "1", {{{}, sum(done)}}),
        metric("busy", "s", {{{}, sum(load)}}),
        metric("queue.length", "", {{{}, sum(std::int64_t{-3}, false)}}),
        metric("load", "%", {{{}, last(load)}}),
        metric("job.size", "By", {{{}, histogram({10, 1000}, {1, 2, 3}, 4321)}}),
        metric("unset", "", {{{}, last(7, false)}}),
        metric("dropped", "", {{{}, sdk::DropPointData{}}}),
    };
  };
  exportAll(all(41, 0.25));
  EXPECT_EQ(exporter.errors(), (std::map<std::string, std::string>{}));
  EXPECT_EQ(publishedCounter(agent, "jobs_done_total"), 41);
  EXPECT_EQ(publishedCounter(agent, "busy_seconds_total"), 0.25);
  EXPECT_EQ(publishedGauge(agent, "queue_length"), -3);
  EXPECT_EQ(publishedGauge(agent, "load_percent"), 0.25);
  EXPECT_EQ(slots("job_size_bytes"), (std::vector<std::uint64_t>{4321, 1, 2, 3}));
  const Metric size = publishedMetric(agent, "job_size_bytes").first;
  EXPECT_EQ(size.bounds, (std::vector<double>{10, 1000}));
  EXPECT_EQ(size.help, "Help.");
  EXPECT_TRUE(slots("unset").empty());
  EXPECT_TRUE(slots("dropped").empty());
  exportAll(all(42, 0.5));
  EXPECT_EQ(publishedCounter(agent, "jobs_done_total"), 42);
  EXPECT_EQ(publishedGauge(agent, "load_percent"), 0.5);
}

TEST_F(OpenTelemetryCpp, NamesBecomePrometheuss) {
  exportAll({metric("http.server.duration", "ms", {{{}, histogram({1}, {0, 0}, 0)}}),
             metric("wait_seconds", "s", {{{}, last(1)}}), metric("2nd - try", "", {{{}, last(2)}}),
             metric("made_total", "{job}", {{{}, sum(1.0)}}),
             metric("seconds", "s", {{{}, last(3)}})});
  for (const char* name : {"http_server_duration_milliseconds", "wait_seconds", "_2nd_try",
                           "made_total", "seconds_seconds"}) {
    EXPECT_FALSE(slots(name).empty()) << name;
  }
}

TEST_F(OpenTelemetryCpp, AttributesBecomeLabels) {
  sdk::PointAttributes attributes;
  attributes["http.method"] = std::string("GET");
  attributes["is\tnew"] = true;
  attributes["code"] = std::int32_t{200};
  attributes["share"] = 0.5;
  attributes["zones"] = std::vector<std::string>{"a", "b"};
  attributes["flags"] = std::vector<bool>{true, false};
  attributes["bytes"] = std::vector<std::uint8_t>{65, 7};
  exportAll({metric("calls", "", {{attributes, sum(std::int64_t{3})}})});
  EXPECT_EQ(exporter.errors(), (std::map<std::string, std::string>{}));
  EXPECT_EQ(publishedMetric(agent, "calls_total").first.labels,
            (pages::Labels{{"bytes", "65,7"},
                           {"code", "200"},
                           {"flags", "true,false"},
                           {"http_method", "GET"},
                           {"is_new", "true"},
                           {"share", "0.5"},
                           {"zones", "a,b"}}));
}

// Groups digits as many locales do.
struct Grouping : std::numpunct<char> {
  char do_thousands_sep() const override { return '.'; }
  char do_decimal_point() const override { return ','; }
  std::string do_grouping() const override { return "\3"; }
};

TEST_F(OpenTelemetryCpp, NumbersAreWholeInEveryLocale) {
  const std::locale before = std::locale::global(std::locale(std::locale(), new Grouping));
  sdk::PointAttributes attributes;
  attributes["code"] = std::int64_t{-1234567};
  attributes["share"] = 1234.56789012;
  attributes["tenth"] = std::vector<double>{0.1, 1e300};
  exportAll({metric("calls", "", {{attributes, sum(std::int64_t{3})}})});
  std::locale::global(before);
  EXPECT_EQ(
      publishedMetric(agent, "calls_total").first.labels,
      (pages::Labels{{"code", "-1234567"}, {"share", "1234.56789012"}, {"tenth", "0.1,1e+300"}}));
}

TEST_F(OpenTelemetryCpp, OfTwoPointsOfOneSeriesTheLaterIsRefused) {
  sdk::PointAttributes dot;
  dot["a.b"] = std::string("x");
  dot["a_a"] = std::string("y");  // in front of a_b
  sdk::PointAttributes dash;
  dash["a_a"] = std::string("y");
  dash["a_b"] = std::string("x");
  for (int round = 0; round < 2; ++round) {
    exportAll({metric("calls", "", {{dot, sum(1.0)}, {dash, sum(2.0)}}),
               metric("load", "", {{{}, last(1)}}), metric("load", "", {{{}, sum(7.0, false)}})});
    EXPECT_EQ(publishedCounter(agent, "calls_total"), 1);
    EXPECT_EQ(publishedGauge(agent, "load"), 1);
  }
  const auto errors = exporter.errors();
  EXPECT_EQ(errors.size(), 2U);
  EXPECT_EQ(errors.count("calls_total"), 1U);
  EXPECT_EQ(errors.count("load"), 1U);
}

TEST_F(OpenTelemetryCpp, LabelSetsThatEndAreRemoved) {
  const auto point = [](const char* till, double value) {
    sdk::PointAttributes attributes;
    attributes["till"] = std::string(till);
    return sdk::PointDataAttributes{attributes, sum(value)};
  };
  exportAll({metric("orders", "", {point("1", 5), point("2", 6)})});
  EXPECT_EQ(publishedCounter(agent, "orders_total", "2"), 6);
  exportAll({metric("orders", "", {point("1", 7)})});
  EXPECT_EQ(exporter.status().metrics, 1U);
  EXPECT_EQ(publishedCounter(agent, "orders_total", "1"), 7);
}

TEST_F(OpenTelemetryCpp, WhatPagesCannotHoldIsTold) {
  auto delta = metric("delta", "", {{{}, sum(1.0)}});
  delta.aggregation_temporality = sdk::AggregationTemporality::kDelta;
  sdk::PointAttributes twice;
  twice["a.b"] = 1;
  twice["a-b"] = 2;
  exportAll({delta, metric("wide", "", {{{}, sdk::Base2ExponentialHistogramPointData{}}}),
             metric("twice", "", {{twice, last(1)}}), metric("good", "", {{{}, last(1)}})});
  const auto errors = exporter.errors();
  EXPECT_EQ(errors.size(), 3U);
  EXPECT_EQ(errors.count("delta"), 1U);
  EXPECT_EQ(errors.count("wide"), 1U);
  EXPECT_EQ(errors.count("twice"), 1U);
  EXPECT_EQ(publishedGauge(agent, "good"), 1);
}

TEST_F(OpenTelemetryCpp, AReaderIsAnsweredAsItExpects) {
  sdk::PushMetricExporter& as_the_sdk_sees_it = exporter;
  EXPECT_EQ(as_the_sdk_sees_it.GetAggregationTemporality(sdk::InstrumentType::kCounter),
            sdk::AggregationTemporality::kCumulative);
  EXPECT_TRUE(as_the_sdk_sees_it.ForceFlush());
  EXPECT_TRUE(as_the_sdk_sees_it.Shutdown());
  EXPECT_EQ(as_the_sdk_sees_it.Export({}), Result::kFailure);
  EXPECT_THROW(PagesMetricExporter(std::string(65, 'x')), std::invalid_argument);
}

}  // namespace
}  // namespace pingloom::pages::test::opentelemetry_cpp_test
