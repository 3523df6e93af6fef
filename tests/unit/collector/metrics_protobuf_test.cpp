#include "collector/metrics_protobuf.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <utility>

namespace pingloom::collector::metrics_protobuf_test {
namespace {

using namespace std::string_literals;

// The bytes follow from the published field numbers. A real Prometheus reads them in test_push.
TEST(MetricsProtobuf, FamiliesAreDelimited) {
  MetricsProtobuf out;
  out.family("a_total", "counter", "H.");
  LabelText labels;
  labels.add("x", "\"");
  out.sample(2, labels);
  out.gauge("b", "", 0.5);
  out.family("c_info", "info", "");
  EXPECT_EQ(out.take(),
            "\x24\x0a\x07"
            "a_total\x12\x02H.\x18\x00\x22\x13\x0a\x06\x0a\x01x\x12\x01\"\x1a\x09\x09"
            "\x00\x00\x00\x00\x00\x00\x00\x40"
            "\x12\x0a\x01"
            "b\x18\x01\x22\x0b\x12\x09\x09\x00\x00\x00\x00\x00\x00\xe0\x3f"
            "\x0a\x0a\x06"
            "c_info\x18\x01"s);
  EXPECT_EQ(out.take(), "");
}

TEST(MetricsProtobuf, ANativeHistogramHasSpansAndDeltas) {
  MetricsProtobuf out;
  // Buckets end at 1, 2, 4, 8, and the last one has no end.
  const std::array<std::uint64_t, 5> counts{1, 3, 0, 2, 0};
  const auto upper = [](std::size_t bucket) { return static_cast<double>(1 << bucket); };
  out.family("h", "histogram", "");
  out.histogram({counts, upper, 9, 0}, LabelText{});
  const std::string text = out.take();
  // Schema 0, threshold 1, count 1; buckets 1 (3) and, one further, 3 (2).
  const std::string native =
      "\x28\x00\x31\x00\x00\x00\x00\x00\x00\xf0\x3f\x38\x01"
      "\x62\x04\x08\x02\x10\x01\x62\x04\x08\x02\x10\x01\x68\x06\x68\x01"s;
  EXPECT_TRUE(text.ends_with(native)) << testing::PrintToString(text);
  out.family("h", "histogram", "");
  out.histogram({counts, upper, 9}, LabelText{});
  EXPECT_EQ(out.take().size(), text.size() - native.size()) << "the classic one only";
}

MetricExemplar someExemplar() {
  MetricExemplar made;
  made.labels.add("t", "x");
  made.value = 2;
  made.time = 3 * kSecond + 5;
  return made;
}
// Exemplar { label { name: "t" value: "x" } value: 2 timestamp { seconds: 3 nanos: 5 } }
const std::string kExemplar =
    "\x0a\x06\x0a\x01t\x12\x01x\x11\x00\x00\x00\x00\x00\x00\x00\x40\x1a\x04\x08\x03\x10\x05"s;

TEST(MetricsProtobuf, ACounterHasAnExemplar) {
  MetricsProtobuf out;
  out.family("c", "counter", "");
  out.sample(2, LabelText{}, someExemplar());
  // Counter { value: 2 exemplar {} }
  EXPECT_TRUE(
      out.take().ends_with("\x1a\x22\x09\x00\x00\x00\x00\x00\x00\x00\x40\x12\x17"s + kExemplar));
  out.family("g", "gauge", "");
  out.sample(2, LabelText{}, someExemplar());
  EXPECT_EQ(out.take().find(kExemplar), std::string::npos) << "gauges have none";
}

TEST(MetricsProtobuf, ABucketAndANativeHistogramHaveExemplars) {
  const std::array<std::uint64_t, 3> counts{0, 1, 0};
  const auto upper = [](std::size_t bucket) { return static_cast<double>(1 << bucket); };
  const MetricExemplar exemplar = someExemplar();
  MetricHistogram histogram{counts, upper, 2};
  histogram.exemplars = {&exemplar, 1};
  MetricsProtobuf out;
  out.family("h", "histogram", "");
  out.histogram(histogram, LabelText{});
  // Bucket { cumulative_count: 1 upper_bound: 2 exemplar {} }
  const std::string bucket =
      "\x1a\x24\x08\x01\x11\x00\x00\x00\x00\x00\x00\x00\x40\x1a\x17"s + kExemplar;
  const std::string classic = out.take();
  EXPECT_NE(classic.find(bucket), std::string::npos) << testing::PrintToString(classic);
  EXPECT_EQ(classic.find(kExemplar), classic.rfind(kExemplar));
  histogram.native_schema = 0;
  out.family("h", "histogram", "");
  out.histogram(histogram, LabelText{});
  EXPECT_TRUE(out.take().ends_with("\x82\x01\x17"s + kExemplar)) << "field 16";
}

TEST(MetricsProtobuf, ASummaryHasQuantiles) {
  MetricsProtobuf out;
  out.family("s", "summary", "");
  out.summary({3, 2, {{0.5, 1}}}, LabelText{});
  EXPECT_EQ(out.take(),
            "\x28\x0a\x01s\x18\x02\x22\x21\x22\x1f\x08\x03\x11\x00\x00\x00\x00\x00\x00\x00\x40"
            "\x1a\x12\x09\x00\x00\x00\x00\x00\x00\xe0\x3f\x11\x00\x00\x00\x00\x00\x00\xf0\x3f"s);
}

TEST(MetricsProtobuf, CountsThatNativeHistogramsCannotHaveAreClassicOnly) {
  const auto upper = [](std::size_t bucket) { return static_cast<double>(1 << bucket); };
  constexpr std::uint64_t kHalf = std::uint64_t{1} << 62;
  const auto sizes = [&](const std::array<std::uint64_t, 3>& counts) {
    MetricsProtobuf native;
    native.histogram({counts, upper, 9, 0}, LabelText{});
    MetricsProtobuf classic;
    classic.histogram({counts, upper, 9}, LabelText{});
    return std::pair(native.take().size(), classic.take().size());
  };
  const auto [most, most_classic] = sizes({kHalf, kHalf - 1, 0});
  EXPECT_GT(most, most_classic) << "INT64_MAX in all";
  for (const std::array<std::uint64_t, 3>& counts :
       {std::array<std::uint64_t, 3>{kHalf, kHalf, 0},  // only the total is too large
        std::array<std::uint64_t, 3>{0, 2 * kHalf, 0},
        std::array<std::uint64_t, 3>{2 * kHalf, 2 * kHalf, 1}}) {  // the total overflows
    const auto [native, classic] = sizes(counts);
    EXPECT_EQ(native, classic) << counts[1];
  }
}

TEST(MetricsProtobuf, WhereItIsPreferred) {
  const std::string type =
      "application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=delimited";
  const std::string text =
      ",application/openmetrics-text;version=1.0.0;q=0.8,text/plain;version=0.0.4;q=0.5,*/*;q=0.1";
  EXPECT_TRUE(MetricsProtobuf::isWanted(type + text));
  EXPECT_TRUE(MetricsProtobuf::isWanted(type));
  EXPECT_FALSE(MetricsProtobuf::isWanted(type + ";q=0.3" + text));
  EXPECT_FALSE(MetricsProtobuf::isWanted(
      "application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=text"));
  EXPECT_FALSE(MetricsProtobuf::isWanted("application/vnd.google.protobuf"));
  EXPECT_FALSE(MetricsProtobuf::isWanted("*/*"));
  EXPECT_FALSE(MetricsProtobuf::isWanted(""));
}

}  // namespace
}  // namespace pingloom::collector::metrics_protobuf_test
