#include "controller/http/latency_metrics.h"

#include <gmock/gmock.h>

namespace pingloom::controller::api::latency_metrics_test {
namespace {

using testing::HasSubstr;
using testing::Not;

LatencySnapshot twoProbes() {
  auto shape = std::make_shared<LatencyShape>();
  LatencyShape::Probe& udp = shape->probes.emplace_back();
  udp.name = "udp";
  udp.label = "rack";
  udp.combinations = {{"r\"1\"", "r2"}};
  udp.left_out = 7;
  LatencyShape::Probe& tcp = shape->probes.emplace_back();
  tcp.name = "tcp";
  tcp.protocol = Protocol::kTcp;
  shape->series = 240;
  LatencySnapshot made;
  made.cells = {std::vector<LatencyCell>(2), std::vector<LatencyCell>(1)};
  made.cells[0][0][0].buckets[3] = 5;  // other pairs: network, up to 8 us
  made.cells[0][0][0].sum_ns = 35'000;
  made.cells[0][1][0].buckets[4] = 2;  // rack r1 to r2
  made.cells[0][1][0].buckets[kLatencyBuckets - 1] = 1;
  made.cells[0][1][0].sum_ns = 2'000'030'000;
  made.shape = std::move(shape);
  return made;
}

TEST(LatencyMetrics, AProbesHistogramIsTheSumOfItsCells) {
  MetricsText text;
  latencyMetrics(text, twoProbes());
  for (const char* line :
       {"# TYPE pingloom_latency_seconds histogram\n",
        "\npingloom_latency_seconds_bucket{probe=\"udp\",part=\"network\",le=\"1e-06\"} 0\n",
        "\npingloom_latency_seconds_bucket{probe=\"udp\",part=\"network\",le=\"8e-06\"} 5\n",
        "\npingloom_latency_seconds_bucket{probe=\"udp\",part=\"network\",le=\"1.6e-05\"} 7\n",
        "\npingloom_latency_seconds_bucket{probe=\"udp\",part=\"network\",le=\"1.048576\"} 7\n",
        "\npingloom_latency_seconds_bucket{probe=\"udp\",part=\"network\",le=\"+Inf\"} 8\n",
        "\npingloom_latency_seconds_sum{probe=\"udp\",part=\"network\"} 2.000065\n",
        "\npingloom_latency_seconds_count{probe=\"udp\",part=\"network\"} 8\n"}) {
    EXPECT_THAT(text.text(), HasSubstr(line));
  }
}

TEST(LatencyMetrics, ARollupHasTheValuesAtBothEnds) {
  MetricsText text;
  latencyMetrics(text, twoProbes());
  EXPECT_THAT(text.text(), HasSubstr("\npingloom_latency_rollup_seconds_count{probe=\"udp\","
                                     "label=\"rack\",source=\"r\\\"1\\\"\",destination=\"r2\","
                                     "part=\"network\"} 3\n"));
  EXPECT_THAT(text.text(), HasSubstr("\npingloom_latency_series 240\n"));
  EXPECT_THAT(text.text(), HasSubstr("\npingloom_latency_left_out{probe=\"udp\"} 7\n"));
  EXPECT_THAT(text.text(), Not(HasSubstr("pingloom_latency_left_out{probe=\"tcp\"}")));
}

TEST(LatencyMetrics, TcpHasNoResponderAndNoProber) {
  MetricsText text;
  latencyMetrics(text, twoProbes());
  EXPECT_THAT(text.text(), HasSubstr("_count{probe=\"tcp\",part=\"network\"} 0\n"));
  EXPECT_THAT(text.text(), HasSubstr("_count{probe=\"tcp\",part=\"rtt\"} 0\n"));
  EXPECT_THAT(text.text(), Not(HasSubstr("{probe=\"tcp\",part=\"responder\"")));
  EXPECT_THAT(text.text(), Not(HasSubstr("{probe=\"tcp\",part=\"prober\"")));
}

TEST(LatencyMetrics, AProbeBeyondTheLimitSaysSo) {
  LatencySnapshot latency = twoProbes();
  auto shape = std::make_shared<LatencyShape>(*latency.shape);
  shape->probes[1].shown = false;
  latency.shape = std::move(shape);
  MetricsText text;
  latencyMetrics(text, latency);
  EXPECT_THAT(text.text(), HasSubstr("\npingloom_latency_left_out{probe=\"tcp\"} 1\n"));
  EXPECT_THAT(text.text(), Not(HasSubstr("_count{probe=\"tcp\"")));
}

}  // namespace
}  // namespace pingloom::controller::api::latency_metrics_test
