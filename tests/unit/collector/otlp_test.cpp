#include "collector/push/otlp.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "collector/push/otlp_writer.h"

namespace pingloom::collector::otlp_test {
namespace {

// What the fields mean is read back in test_push, by a receiver.
TEST(Otlp, LargePushesAreDivided) {
  Otlp format("dpu-1");
  const auto out = format.writer(kSecond)();
  constexpr std::size_t kPoints = 40'000;
  out->family("many", "gauge", "");
  for (std::size_t i = 0; i < kPoints; ++i) {
    LabelText labels;
    labels.add("i", std::string(100, 'x') + std::to_string(i));
    out->sample(i, labels);
  }
  const std::string written = out->take();
  std::size_t most = 0;
  forEachMetric(written, [&](const OtlpRecord& record) {
    most = std::max(most, record.metric.size());
    EXPECT_NE(record.metric.find("many"), std::string_view::npos);
  });
  EXPECT_LT(most, 260U * 1024);
  const auto requests = format.requests(written, kSecond, 7);
  EXPECT_GE(requests.size(), 3U);
  std::size_t points = 0;
  for (const PushRequest& request : requests) {
    points += request.samples;
    EXPECT_EQ(request.encoding, "gzip");
    EXPECT_EQ(request.made, 7);
    EXPECT_LT(request.body.size(), Otlp::kMaxRequest);
  }
  EXPECT_EQ(points, kPoints);
}

// The bytes follow from the published field numbers.
TEST(Otlp, ASummaryHasNoTemporality) {
  using namespace std::string_literals;
  OtlpWriter out(1);
  out.family("s", "summary", "");
  LabelText labels;
  labels.add("x", "y");
  out.summary({3, 2, {{0.1, -1}, {0.5, 1}, {0.9, std::nan("")}}}, labels);
  std::string metric;
  forEachMetric(out.take(), [&](const OtlpRecord& record) {
    EXPECT_EQ(record.points, 1U);
    metric = record.metric;
  });
  EXPECT_EQ(metric,
            "\x12\x40\x0a\x01s\x5a\x3b\x0a\x39\x19\x01\x00\x00\x00\x00\x00\x00\x00"
            "\x21\x03\x00\x00\x00\x00\x00\x00\x00\x29\x00\x00\x00\x00\x00\x00\x00\x40"
            "\x32\x12\x09\x00\x00\x00\x00\x00\x00\xe0\x3f\x11\x00\x00\x00\x00\x00\x00\xf0\x3f"
            "\x3a\x08\x0a\x01x\x12\x03\x0a\x01y"s)
      << testing::PrintToString(metric);
}

// Writes a sample of a counter with an exemplar that has these labels.
std::string withExemplar(const std::vector<std::pair<std::string, std::string>>& labels) {
  MetricExemplar exemplar;
  for (const auto& [name, value] : labels) exemplar.labels.add(name, value);
  exemplar.value = 2;
  exemplar.time = 5;
  OtlpWriter out(1);
  out.family("c", "counter", "");
  out.sample(3, LabelText{}, exemplar);
  return out.take();
}

TEST(Otlp, ExemplarsHaveIds) {
  using namespace std::string_literals;
  // Exemplar { time_unix_nano: 5 as_double: 2 ... }
  const std::string head =
      "\x11\x05\x00\x00\x00\x00\x00\x00\x00\x19\x00\x00\x00\x00\x00\x00\x00\x40"s;
  const std::string trace =
      "\x2a\x10\x4b\xf9\x2f\x35\x77\xb3\x4d\xa6\xa3\xce\x92\x9d\x0e\x0e\x47\x36"s;
  const std::string span = "\x22\x08\x00\xf0\x67\xaa\x0b\xa9\x02\xb7"s;
  const std::string attribute = "\x3a\x08\x0a\x01x\x12\x03\x0a\x01y"s;
  EXPECT_NE(withExemplar({{"trace_id", "4bf92f3577B34da6a3ce929d0e0e4736"},
                          {"span_id", "00f067aa0ba902b7"},
                          {"x", "y"}})
                .find("\x2a\x38"s + head + trace + span + attribute),
            std::string::npos);
  for (const char* no_id :
       {"4bf92f35", "4bf92f3577b34da6a3ce929d0e0e473g", "00000000000000000000000000000000"}) {
    EXPECT_NE(withExemplar({{"trace_id", no_id}}).find(no_id), std::string::npos)
        << "it is an attribute";
  }
}

TEST(Otlp, HistogramsHaveExemplars) {
  using namespace std::string_literals;
  MetricExemplar exemplar;
  exemplar.labels.add("x", "y");
  const std::array<std::uint64_t, 2> counts{1, 0};
  MetricHistogram histogram{counts, [](std::size_t) { return 1.0; }, 1};
  histogram.exemplars = {&exemplar, 1};
  OtlpWriter out(1);
  out.family("h", "histogram", "");
  out.histogram(histogram, LabelText{});
  EXPECT_TRUE(out.take().find("\x42\x1c\x11"s) != std::string::npos) << "field 8";
}

TEST(Otlp, ReadsWhatIsRejected) {
  using namespace std::string_literals;
  const Otlp format("dpu-1");
  // ExportMetricsServiceResponse { partial_success { rejected_data_points: 300 error_message: "old"
  // } }
  const PushRejection found = format.rejectionIn("\x0a\x08\x08\xac\x02\x12\x03old"s);
  EXPECT_EQ(found.samples, 300U);
  EXPECT_EQ(found.reason, "old");
  for (const std::string& body : {""s, "\x0a\x00"s, "{}"s, "\x0a\x08\x08\xac"s,
                                  "\x0a\x03\x08\xff\xff"s, std::string(9, '\xff')}) {
    EXPECT_EQ(format.rejectionIn(body).samples, 0U) << testing::PrintToString(body);
  }
}

TEST(Otlp, NothingIsNoRequest) {
  Otlp format("dpu-1");
  const auto out = format.writer(kSecond)();
  out->family("empty", "gauge", "It has no samples.");
  EXPECT_TRUE(format.requests(out->take(), kSecond, 0).empty());
}

}  // namespace
}  // namespace pingloom::collector::otlp_test
