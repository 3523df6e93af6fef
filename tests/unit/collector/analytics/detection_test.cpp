// The default settings on incidents of seeds that they were not chosen on (nor reported of): bounds
// with room below what the benchmark measures.
#include <gtest/gtest.h>

#include <vector>

#include "bench/analytics/evaluation.h"

namespace {

using namespace pingloom::bench;

constexpr std::uint64_t kSeed = 9001;
constexpr std::size_t kHour = 3600;

std::vector<Run> runsOf(RunShape shape, std::size_t count) {
  std::vector<Run> runs;
  for (std::size_t i = 0; i < count; ++i) runs.push_back(makeRun(shape, kSeed + i));
  return runs;
}

TEST(Detection, FindsIncidentsItHasNotSeen) {
  const auto found = evaluate({}, runsOf({.samples = 5 * kHour, .history = 5 * kHour}, 2));
  ASSERT_GE(found.incidents(), 16U);
  EXPECT_GE(found.recall(), 0.5);
  EXPECT_LE(found.falseAlarmsPerHour(), 1);
}

TEST(Detection, QuietRunsAreExportedSlowly) {
  const auto found =
      evaluate({}, runsOf({.samples = 4 * kHour, .history = 2 * kHour, .incidents = false}, 2));
  EXPECT_LE(found.falseAlarmsPerHour(), 1);
  EXPECT_GE(found.saving(), 0.8);
}

}  // namespace
