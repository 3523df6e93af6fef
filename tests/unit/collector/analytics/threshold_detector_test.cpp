#include "collector/analytics/threshold_detector.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace {

using namespace pingloom::collector::analytics;

ThresholdRule above(double limit, HysteresisSettings hysteresis = {2, 3}) {
  return {.metric = "queue_length", .slot = 1, .limit = limit, .hysteresis = hysteresis};
}

ThresholdVerdict observe(ThresholdDetector& detector, double value) {
  const std::vector<double> values{0, value};
  return detector.observe(values, values)[0];
}

TEST(ThresholdDetector, RaisesAfterNOfMAndClearsAfterMWithin) {
  ThresholdDetector detector({above(10)});
  EXPECT_FALSE(observe(detector, 11).anomalous);
  EXPECT_FALSE(observe(detector, 9).anomalous);
  const auto raised = observe(detector, 12);
  EXPECT_TRUE(raised.anomalous);
  EXPECT_TRUE(raised.changed);
  EXPECT_EQ(raised.rule->metric, "queue_length");
  EXPECT_EQ(raised.rule->limit, 10);
  EXPECT_EQ(raised.value, 12);
  EXPECT_TRUE(detector.anomalous());
  EXPECT_TRUE(observe(detector, 10).anomalous);  // the limit itself is within
  EXPECT_TRUE(observe(detector, 1).anomalous);
  const auto cleared = observe(detector, 1);
  EXPECT_FALSE(cleared.anomalous);
  EXPECT_TRUE(cleared.changed);
  EXPECT_FALSE(observe(detector, 1).changed);
}

TEST(ThresholdDetector, BelowAndOnARate) {
  ThresholdRule rule{.metric = "requests",
                     .slot = 0,
                     .of = ThresholdRule::Of::kRate,
                     .side = ThresholdRule::Side::kBelow,
                     .limit = 5,
                     .hysteresis = {1, 1}};
  ThresholdDetector detector({rule});
  const std::vector<double> values{1e6};
  EXPECT_FALSE(detector.observe(values, std::vector<double>{7})[0].anomalous);
  const auto verdict = detector.observe(values, std::vector<double>{4})[0];
  EXPECT_TRUE(verdict.anomalous);
  EXPECT_EQ(verdict.value, 4);
}

TEST(ThresholdDetector, MissingValueChangesNothing) {
  ThresholdDetector detector({above(10, {2, 2})});
  observe(detector, 11);
  for (const double missing : {std::nan(""), std::numeric_limits<double>::infinity()}) {
    const auto verdict = observe(detector, missing);
    EXPECT_FALSE(verdict.anomalous);
    EXPECT_EQ(verdict.value, 11);
  }
  EXPECT_TRUE(observe(detector, 11).anomalous);
}

TEST(ThresholdDetector, VerdictsSurviveAMove) {
  ThresholdDetector made({above(10, {1, 1})});
  ThresholdDetector detector(std::move(made));
  EXPECT_EQ(observe(detector, 11).rule->limit, 10);
}

TEST(ThresholdDetector, CheckNamesWhatIsWrong) {
  const auto fault = [](ThresholdRule rule) {
    const auto status = ThresholdDetector::check(std::vector{rule}, 2);
    return status ? std::string() : status.error().text();
  };
  EXPECT_EQ(fault(above(10)), "");
  EXPECT_EQ(fault(above(10, {1, 64})), "");
  EXPECT_EQ(fault(above(10, {3, 2})),
            "threshold on 'queue_length': 3 of 2 samples: must be 1 <= N <= M <= 64");
  EXPECT_NE(fault(above(10, {0, 2})), "");
  EXPECT_NE(fault(above(10, {1, 65})), "");
  EXPECT_NE(fault(above(std::nan(""))), "");
  ThresholdRule outside = above(10);
  outside.slot = 2;
  EXPECT_EQ(fault(outside), "threshold on 'queue_length': slot 2 of a group with 2");
}

TEST(Hysteresis, WholeWindowCounts) {
  Hysteresis hysteresis({64, 64});
  for (int i = 0; i < 63; ++i) EXPECT_FALSE(hysteresis.add(true));
  EXPECT_TRUE(hysteresis.add(true));
  for (int i = 0; i < 63; ++i) EXPECT_TRUE(hysteresis.add(false));
  EXPECT_FALSE(hysteresis.add(false));
}

}  // namespace
