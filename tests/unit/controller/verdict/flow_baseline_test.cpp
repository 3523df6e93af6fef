#include "controller/verdict/flow_baseline.h"

#include <gtest/gtest.h>

namespace pingloom::controller {
namespace {

Summary summaryOf(std::uint64_t min, std::uint64_t p50, std::uint64_t max) {
  return {10, min, p50, p50, max, max, max};
}

FlowBaseline learned() {
  FlowBaseline baseline;
  for (std::uint64_t window = 1; window <= FlowBaseline::kLearned; ++window) {
    baseline.take(window, summaryOf(38'000, 40'000, 43'000));
  }
  return baseline;
}

TEST(FlowBaseline, SaysNothingWhileItLearns) {
  FlowBaseline baseline;
  for (std::uint64_t window = 1; window <= FlowBaseline::kLearned; ++window) {
    baseline.take(window, summaryOf(40'000 * window, 50'000 * window, 900'000));
    EXPECT_EQ(baseline.newest().above, 0U);
    EXPECT_EQ(baseline.newest().samples, 10U);
  }
}

TEST(FlowBaseline, CountsTheSamplesOfASlowWindow) {
  FlowBaseline baseline = learned();
  baseline.take(4, summaryOf(340'000, 345'000, 350'000));
  EXPECT_EQ(baseline.newest().above, 10U);
  EXPECT_NEAR(baseline.newest().excess_ns, 305'000, 1'000);
}

TEST(FlowBaseline, SaysHowMuchTheSlowPartOfAWindowIsSlower) {
  FlowBaseline baseline = learned();
  baseline.take(4, summaryOf(38'000, 40'000, 340'000));
  EXPECT_GT(baseline.newest().above, 2U);
  EXPECT_LT(baseline.newest().above, 6U);
  EXPECT_GT(baseline.newest().excess_ns, 100'000);
}

TEST(FlowBaseline, TakesAWindowOnce) {
  FlowBaseline baseline = learned();
  baseline.take(4, summaryOf(340'000, 345'000, 350'000));
  for (int i = 0; i < 100'000; ++i) baseline.take(4, summaryOf(340'000, 345'000, 350'000));
  baseline.take(5, summaryOf(340'000, 345'000, 350'000));
  EXPECT_EQ(baseline.newest().above, 10U);
}

TEST(FlowBaseline, DoesNotTakeAFaultForUsual) {
  FlowBaseline baseline = learned();
  for (std::uint64_t window = 4; window < 200; ++window) {  // a quarter of an hour
    baseline.take(window, summaryOf(340'000, 345'000, 350'000));
  }
  EXPECT_EQ(baseline.newest().above, 10U);
}

TEST(FlowBaseline, FollowsWhatChangesSlowly) {
  FlowBaseline baseline = learned();
  for (std::uint64_t window = 4; window < 400; ++window) {
    const std::uint64_t base = 40'000 + 100 * window;  // twice the value after 400 windows
    baseline.take(window, summaryOf(base - 2'000, base, base + 3'000));
    EXPECT_LT(baseline.newest().above, 5U) << window;
  }
}

TEST(FlowBaseline, BearsWindowsWithoutSamples) {
  FlowBaseline baseline = learned();
  baseline.take(4, {});
  EXPECT_EQ(baseline.newest().above, 0U);
}

TEST(FlowBaseline, InterpolatesBetweenQuantiles) {
  const Summary summary = {100, 10, 20, 60, 100, 150, 400};  // min, mean, p50, p95, p99, max
  EXPECT_EQ(countAbove(summary, 5), 100U);
  EXPECT_EQ(countAbove(summary, 35), 75U);
  EXPECT_EQ(countAbove(summary, 60), 50U);
  EXPECT_EQ(countAbove(summary, 100), 5U);
  EXPECT_EQ(countAbove(summary, 400), 0U);
  EXPECT_EQ(valueBelow(summary, 0.75), 35);
  EXPECT_EQ(valueBelow(summary, 0.05), 100);
  EXPECT_EQ(valueBelow(summary, 1), 10);
  EXPECT_EQ(valueBelow(summary, 0), 400);
}

}  // namespace
}  // namespace pingloom::controller
