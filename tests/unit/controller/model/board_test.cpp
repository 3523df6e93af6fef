#include "controller/model/board.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "controller/model/grid_plan.h"
#include "unit/controller/support.h"

namespace pingloom::controller::board_test {
namespace {

using test::pinglistOf;

std::shared_ptr<const GridPlan> planOf(std::uint64_t generation) {
  return makeGridPlan(pinglistOf("  - { name: a, protocol: udp, mesh: ['10.0.0.[1-3]'] }\n"),
                      generation);
}

StateEvent eventAt(Nanos utc) {
  return {utc, "a", test::ip("10.0.0.1"), test::ip("10.0.0.2"), PairState::kOk, PairState::kLoss};
}

TEST(Board, AFeedNamesEachChangedSourceOnce) {
  Board board;
  int woken = 0;
  const auto feed = board.subscribe([&] { ++woken; });
  EXPECT_TRUE(feed->take().plan) << "a new reader has everything to read";
  board.publishPlan(planOf(1));
  board.publishSource(0, 2, std::make_shared<const SourceSnapshot>());
  board.publishSource(0, 1, std::make_shared<const SourceSnapshot>());
  board.publishSource(0, 2, std::make_shared<const SourceSnapshot>());
  EXPECT_GT(woken, 0);
  const Changes changes = feed->take();
  EXPECT_TRUE(changes.plan);
  EXPECT_THAT(changes.sources, testing::ElementsAre(std::pair{0U, 2U}, std::pair{0U, 1U}));
  EXPECT_TRUE(feed->take().sources.empty());
  board.publishSource(0, 2, std::make_shared<const SourceSnapshot>());
  EXPECT_EQ(feed->take().sources.size(), 1U);
}

TEST(Board, SourcesBelongToAGeneration) {
  Board board;
  board.publishPlan(planOf(1));
  board.publishSource(0, 0, std::make_shared<const SourceSnapshot>());
  board.publishSource(0, 9, std::make_shared<const SourceSnapshot>());
  board.publishSource(7, 0, std::make_shared<const SourceSnapshot>());
  EXPECT_NE(board.source(0, 0, 1), nullptr);
  EXPECT_EQ(board.source(0, 0, 2), nullptr);
  EXPECT_EQ(board.sources(0, 1).size(), 3U);
  EXPECT_TRUE(board.sources(1, 1).empty());
  Board::Sources carried = {{nullptr, std::make_shared<const SourceSnapshot>()}};
  board.publishPlan(planOf(2), carried);
  EXPECT_EQ(board.source(0, 0, 2), nullptr);
  EXPECT_NE(board.source(0, 1, 2), nullptr);
  EXPECT_EQ(board.source(0, 2, 2), nullptr);
}

TEST(Board, AFeedHasOnlyWhatItsReaderUses) {
  Board board;
  board.publishPlan(planOf(1));
  int woken = 0;
  const auto feed =
      board.subscribe([&] { ++woken; }, {.sources = false, .events = false, .paths = false});
  const Changes first = feed->take();
  EXPECT_TRUE(first.plan && first.verdict);
  EXPECT_FALSE(first.all_paths);
  board.publishSource(0, 0, std::make_shared<const SourceSnapshot>());
  board.publishEvents({eventAt(1)});
  EXPECT_EQ(woken, 0);
  const Changes changes = feed->take();
  EXPECT_TRUE(changes.sources.empty());
  EXPECT_TRUE(changes.events.empty());
  board.publishVerdict(std::make_shared<const Verdict>());
  EXPECT_EQ(woken, 1);
  EXPECT_TRUE(feed->take().verdict);
}

TEST(Board, AFeedKeepsTheNewestEvents) {
  Board board;
  const auto feed = board.subscribe([] {});
  std::vector<StateEvent> many;
  for (Nanos i = 0; i < 6'000; ++i) many.push_back(eventAt(i));
  board.publishEvents(many);
  for (StateEvent& event : many) event.utc += 6'000;
  board.publishEvents(many);
  const Changes changes = feed->take();
  EXPECT_EQ(changes.events.size(), Feed::kMaxEvents);
  EXPECT_EQ(changes.events_dropped, 2'000U);
  EXPECT_EQ(changes.events.front().utc, 2'000);
  EXPECT_EQ(changes.events.back().utc, 11'999);
  many.resize(4'000);
  for (int i = 0; i < 7; ++i) board.publishEvents(many);
  EXPECT_EQ(feed->take().events_dropped, 18'000U);
}

TEST(Board, AReaderThatHasGoneIsForgotten) {
  Board board;
  bool woken = false;
  board.subscribe([&] { woken = true; });
  board.publishPlan(planOf(1));
  EXPECT_FALSE(woken);
}

}  // namespace
}  // namespace pingloom::controller::board_test
