// The default settings on incidents of seeds that they were not chosen on (nor reported of): bounds
// with room below what the benchmark measures.
#include <gtest/gtest.h>

#include <vector>

#include "bench/analytics/evaluation.h"

namespace {

using namespace pingloom::bench;

constexpr std::uint64_t kSeed = 9001;

std::vector<Run> runsOf(RunShape shape, std::size_t count) {
  std::vector<Run> runs;
  for (std::size_t i = 0; i < count; ++i) runs.push_back(makeRun(shape, kSeed + i));
  return runs;
}

TEST(Detection, FindsIncidentsItHasNotSeen) {
  const auto found = evaluate({}, runsOf({.samples = 4 * 3600}, 4));
  ASSERT_GE(found.incidents(), 30U);
  EXPECT_GE(found.precision(), 0.8);
  EXPECT_GE(found.recall(), 0.8);
  EXPECT_LE(found.delay(0.5), 30);
  EXPECT_LE(found.falseAlarmsPerHour(), 1);
  for (const auto& kind : found.kinds) EXPECT_GE(kind.detected, kind.incidents / 2);
}

TEST(Detection, QuietRunsAreExportedSlowly) {
  const auto found = evaluate({}, runsOf({.samples = 4 * 3600, .incidents = false}, 2));
  EXPECT_LE(found.falseAlarmsPerHour(), 1);
  EXPECT_GE(found.saving(), 0.8);
}

// Without directions that explain, what the metrics have in common hides what they have not.
TEST(Detection, NeedsTheSubspace) {
  const auto runs = runsOf({.samples = 4 * 3600}, 4);
  pingloom::collector::analytics::SubspaceSettings alone;
  alone.max_rank = 0;
  EXPECT_GT(evaluate({}, runs).f1(), evaluate(alone, runs).f1() + 0.1);
}

}  // namespace
