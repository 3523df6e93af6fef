#include "collector/push/otlp.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

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
