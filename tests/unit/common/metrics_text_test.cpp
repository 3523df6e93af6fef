#include "common/metrics_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <vector>

namespace pingloom {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

std::string lineOf(MetricValue value) {
  std::string text;
  value.appendTo(text);
  return text;
}

TEST(MetricValue, CountsHaveAllTheirDigits) {
  EXPECT_EQ(lineOf(0), "0");
  EXPECT_EQ(lineOf(std::uint64_t{9'007'199'254'740'993}), "9007199254740993");
  EXPECT_EQ(lineOf(UINT64_MAX), "18446744073709551615");
  EXPECT_EQ(lineOf(-3), "-3");
}

TEST(MetricValue, NumbersHaveTheirShortestForm) {
  EXPECT_EQ(lineOf(0.5), "0.5");
  EXPECT_EQ(lineOf(2.0), "2");
  EXPECT_EQ(lineOf(2e-06), "2e-06");
  EXPECT_EQ(lineOf(-1.7976931348623157e308), "-1.7976931348623157e+308");
  EXPECT_EQ(lineOf(std::nan("")), "NaN");
  EXPECT_EQ(lineOf(INFINITY), "+Inf");
  EXPECT_EQ(lineOf(-INFINITY), "-Inf");
}

TEST(MetricsText, WritesFamiliesAndSamples) {
  MetricsText out;
  out.family("pings_total", "counter", "Pings that left.");
  out.sample(7U, {{"protocol", "udp"}, {"probe", "mesh"}});
  out.gauge("load", "", 0.5);
  out.counter("rows_total", "Rows.", 3);
  out.family("build_info", "info", "The version.");
  out.sample(1, {{"version", "1.2"}});
  out.finish();
  EXPECT_EQ(out.text(),
            "# HELP pings_total Pings that left.\n"
            "# TYPE pings_total counter\n"
            "pings_total{protocol=\"udp\",probe=\"mesh\"} 7\n"
            "# TYPE load gauge\n"
            "load 0.5\n"
            "# HELP rows_total Rows.\n"
            "# TYPE rows_total counter\n"
            "rows_total 3\n"
            "# HELP build_info The version.\n"
            "# TYPE build_info gauge\n"
            "build_info{version=\"1.2\"} 1\n");
}

TEST(MetricsText, OpenMetricsNamesFamiliesWithoutTheirSuffixAndEnds) {
  MetricsText out(MetricsFormat::kOpenMetrics);
  out.counter("rows_total", "Rows.", 3);
  out.counter("pings", "", 4);
  out.family("build_info", "info", "");
  out.sample(1, {{"version", "1.2"}});
  out.gauge("made_total", "", 5);
  out.finish();
  EXPECT_EQ(out.text(),
            "# HELP rows Rows.\n"
            "# TYPE rows counter\n"
            "rows_total 3\n"
            "# TYPE pings counter\n"
            "pings_total 4\n"
            "# TYPE build info\n"
            "build_info{version=\"1.2\"} 1\n"
            "# TYPE made_total gauge\n"
            "made_total 5\n"
            "# EOF\n");
}

TEST(MetricsText, EscapesHelpAndLabels) {
  const std::string odd = "a\"b\\c\nd";
  MetricsText text;
  text.family("g", "gauge", odd);
  text.sample(1, {{"label", odd}});
  EXPECT_EQ(text.text(),
            "# HELP g a\"b\\\\c\\nd\n"
            "# TYPE g gauge\n"
            "g{label=\"a\\\"b\\\\c\\nd\"} 1\n");
  MetricsText open(MetricsFormat::kOpenMetrics);
  open.family("g", "gauge", odd);
  EXPECT_THAT(open.text(), StartsWith("# HELP g a\\\"b\\\\c\\nd\n")) << "quotes too";
}

TEST(MetricsText, BucketsAreCumulative) {
  MetricsText out;
  out.family("wait_seconds", "histogram", "");
  const auto upper = [](std::size_t bucket) { return 0.5 * static_cast<double>(bucket + 1); };
  const std::array<std::uint64_t, 3> counts{1, 2, 3};
  out.histogram({counts, upper, 2.5}, LabelText{});
  LabelText labels;
  labels.add("host", "a\"b");
  labels.add("pid", "5");
  out.histogram({std::span(counts).last(1), upper, 0}, labels);
  EXPECT_EQ(out.text(),
            "# TYPE wait_seconds histogram\n"
            "wait_seconds_bucket{le=\"0.5\"} 1\n"
            "wait_seconds_bucket{le=\"1\"} 3\n"
            "wait_seconds_bucket{le=\"+Inf\"} 6\n"
            "wait_seconds_sum 2.5\n"
            "wait_seconds_count 6\n"
            "wait_seconds_bucket{host=\"a\\\"b\",pid=\"5\",le=\"+Inf\"} 3\n"
            "wait_seconds_sum{host=\"a\\\"b\",pid=\"5\"} 0\n"
            "wait_seconds_count{host=\"a\\\"b\",pid=\"5\"} 3\n");
}

// Values 0.1 (twice), 0.5 and 7.
std::vector<MetricExemplar> someExemplars() {
  std::vector<MetricExemplar> made(4);
  made[0].labels.add("trace_id", "older");
  made[1].labels.add("trace_id", "a\"b");
  made[1].labels.add("span_id", "c\\");
  made[2].labels.add("trace_id", "c");
  made[3].labels.add("trace_id", "d");
  made[0].value = made[1].value = 0.1;
  made[2].value = 0.5;
  made[3].value = 7;
  made[0].time = 1'700'000'000 * kSecond;
  made[1].time = made[2].time = made[3].time = made[0].time + 7 * kMillisecond + 5;
  return made;
}

TEST(MetricsText, OpenMetricsHasExemplarsAtBucketsAndCounters) {
  const auto upper = [](std::size_t bucket) { return 0.25 * static_cast<double>(bucket + 1); };
  const std::array<std::uint64_t, 4> counts{2, 1, 0, 1};
  const auto exemplars = someExemplars();
  MetricHistogram histogram{counts, upper, 2.5};
  histogram.exemplars = exemplars;
  const auto written = [&](MetricsFormat format) {
    MetricsText out(format);
    EXPECT_EQ(out.hasExemplars(), format == MetricsFormat::kOpenMetrics);
    out.family("h", "histogram", "");
    out.histogram(histogram, LabelText{});
    out.family("c_total", "counter", "");
    out.sample(3, LabelText{}, exemplars[2]);
    return out.take();
  };
  const std::string last = " # {trace_id=\"c\"} 0.5 1700000000.007\n";
  EXPECT_EQ(written(MetricsFormat::kOpenMetrics),
            "# TYPE h histogram\n"
            "h_bucket{le=\"0.25\"} 2 # {trace_id=\"a\\\"b\",span_id=\"c\\\\\"} 0.1 1700000000.007\n"
            "h_bucket{le=\"0.5\"} 3" +
                last +
                "h_bucket{le=\"0.75\"} 3\n"
                "h_bucket{le=\"+Inf\"} 4 # {trace_id=\"d\"} 7 1700000000.007\n"
                "h_sum 2.5\n"
                "h_count 4\n"
                "# TYPE c counter\n"
                "c_total 3" +
                last);
  EXPECT_EQ(written(MetricsFormat::kPrometheus).find('{' + std::string("trace_id")),
            std::string::npos);
  histogram.step = 2;  // the first bucket, the third and the last
  EXPECT_THAT(written(MetricsFormat::kOpenMetrics), HasSubstr("h_bucket{le=\"0.75\"} 3" + last))
      << "the exemplar is that of the bucket that is shown";
}

TEST(MetricsText, BucketsSaturate) {
  MetricsText out;
  out.family("h", "histogram", "");
  const std::array<std::uint64_t, 3> counts{UINT64_MAX, UINT64_MAX, 1};
  out.histogram({counts, [](std::size_t) { return 1.0; }, 0}, LabelText{});
  EXPECT_THAT(out.text(), HasSubstr("h_bucket{le=\"+Inf\"} 18446744073709551615\n"));
  EXPECT_THAT(out.text(), HasSubstr("h_count 18446744073709551615\n"));
}

TEST(MetricsText, TellsOfItsProcess) {
  MetricsText out;
  out.process();
  for (const char* name :
       {"process_cpu_seconds_total", "process_resident_memory_bytes", "process_open_fds"}) {
    EXPECT_THAT(out.text(), HasSubstr(std::string("\n") + name + " "));
  }
}

TEST(MetricsText, OpenMetricsWhereItIsAskedFor) {
  EXPECT_EQ(MetricsText::formatFor(""), MetricsFormat::kPrometheus);
  EXPECT_EQ(MetricsText::formatFor("text/plain"), MetricsFormat::kPrometheus);
  EXPECT_EQ(MetricsText::formatFor("application/openmetrics-text;version=1.0.0,text/plain;q=0.5"),
            MetricsFormat::kOpenMetrics);
}

}  // namespace
}  // namespace pingloom
