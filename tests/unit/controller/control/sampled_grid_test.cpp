// The grid of a probe that samples: pairs that are not planned are none, whatever is reported.
#include <gtest/gtest.h>

#include <algorithm>

#include "controller/control/grid.h"
#include "controller/model/grid_plan.h"
#include "unit/controller/support.h"

namespace pingloom::controller::sampled_grid_test {
namespace {

using test::goodRow;
using test::reportOf;

constexpr Nanos kStart = 1'795'230'720 * kSecond;
constexpr std::uint64_t kIndex = kStart / (10 * kSecond);

// Three racks of two hosts, 10.0.0.1 to 10.0.0.6.
std::shared_ptr<const pinglist::Pinglist> racks(const std::string& across) {
  std::string text = "version: 1\ndefaults: { window: 10s }\nhosts:\n";
  std::string members;
  for (int i = 0; i < 6; ++i) {
    const std::string name = "h" + std::to_string(i);
    text += "  " + name + ": { address: 10.0.0." + std::to_string(i + 1) + ", rack: r" +
            std::to_string(i / 2) + " }\n";
    members += (i == 0 ? "" : ", ") + name;
  }
  text += "probes:\n  - { name: m, protocol: udp, mesh: [" + members +
          "], plan: { full: rack, across: { " + across + " } } }\n";
  auto parsed = pinglist::parse(text, "pinglist.yaml");
  EXPECT_TRUE(parsed) << parsed.error().text();
  return std::make_shared<const pinglist::Pinglist>(std::move(*parsed));
}

class SampledGrid : public testing::Test {
 protected:
  void use(const std::string& across) {
    grid_.setPlan(makeGridPlan(racks(across), ++generation_), now_);
  }
  const ProbeGrid& probe() const { return grid_.plan().probes[0]; }
  // A report of the first host with a row for each of the others.
  Grid::Applied reportAll() {
    std::vector<wire::Row> rows;
    for (int i = 2; i <= 6; ++i) rows.push_back(goodRow("10.0.0." + std::to_string(i)));
    const std::string bytes = reportOf("m", "10.0.0.1", kIndex, rows).SerializeAsString();
    EXPECT_TRUE(view_.read(bytes));
    const auto applied = grid_.apply(view_, *readHead(view_.head()), {1, 1, now_.utc, true}, now_);
    EXPECT_TRUE(applied);
    return *applied;
  }
  std::size_t pairsShown() const {
    const auto snapshot = board_.source(0, 0, generation_);
    return static_cast<std::size_t>(
        std::count_if(snapshot->states.begin(), snapshot->states.end(),
                      [](const auto& state) { return state.has_value(); }));
  }
  std::size_t rowsKept() const {
    return board_.source(0, 0, generation_)->rows->rows.entries().size();
  }

  Instant now_{20 * kSecond, kStart + 20 * kSecond};
  Registry registry_;
  Board board_;
  Grid grid_{registry_, board_};
  ReportView view_;
  std::uint64_t generation_ = 0;
};

TEST_F(SampledGrid, HasThePairsOfItsPlanOnly) {
  use("targets: 2");
  ASSERT_NE(probe().targets, nullptr);
  std::size_t pairs = 0;
  for (std::uint32_t to = 0; to < 6; ++to) pairs += isPair(probe(), 0, to) ? 1 : 0;
  EXPECT_EQ(pairs, 3U);
  EXPECT_TRUE(isPair(probe(), 0, 1)) << "its rack";
  EXPECT_FALSE(isPair(probe(), 0, 0));
  EXPECT_EQ(pairsShown(), 3U) << "pending";
  const Grid::Applied applied = reportAll();
  EXPECT_EQ(applied.taken, 3U);
  EXPECT_EQ(applied.ignored, 2U);
  EXPECT_EQ(pairsShown(), 3U);
  EXPECT_EQ(rowsKept(), 3U) << "no memory for pairs that are not planned";
}

TEST_F(SampledGrid, ForgetsPairsThatLeaveThePlan) {
  use("targets: 4");
  reportAll();
  EXPECT_EQ(rowsKept(), 5U);
  use("targets: 1");
  EXPECT_EQ(pairsShown(), 2U);
  EXPECT_EQ(rowsKept(), 2U) << "the others keep their rows";
  use("targets: 4");
  EXPECT_EQ(pairsShown(), 5U);
  EXPECT_EQ(rowsKept(), 2U);
}

TEST_F(SampledGrid, PairsWithinAGroupHaveOnePath) {
  use("targets: 1");
  ProbeGrid paths = probe();
  paths.spec.paths = 8;
  EXPECT_EQ(pathsOf(paths, 0, 1), 0U);
  EXPECT_EQ(pathsOf(paths, 0, paths.targets->across(0)[0]), 8U);
}

}  // namespace
}  // namespace pingloom::controller::sampled_grid_test
