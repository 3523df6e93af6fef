#include "cli/top_ranking.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace pingloom::cli::top_ranking_test {
namespace {

using testing::ElementsAre;

// Two sources, two destinations; figures may be set cell by cell.
TopGrid grid(const std::string& probe) {
  TopGrid made;
  made.probe = probe;
  made.sources = {"10.0.0.1", "10.0.0.2"};
  made.destinations = {"10.0.0.1", "10.0.0.2"};
  for (auto& figure : made.figures) figure.assign(4, std::nullopt);
  made.states = {std::nullopt, PairState::kOk, PairState::kOk, std::nullopt};
  return made;
}

std::vector<std::string> names(const std::vector<TopGrid>& grids, TopSort sort,
                               std::string_view filter = "") {
  std::vector<std::string> texts;
  for (const TopPair& pair : rankPairs(grids, sort, filter)) {
    const TopGrid& of = grids[pair.grid];
    texts.push_back(of.probe + " " + of.sources[pair.source] + ">" +
                    of.destinations[pair.destination]);
  }
  return texts;
}

void set(TopGrid& of, TopSort figure, std::size_t cell, double value) {
  of.figures[static_cast<std::size_t>(figure)][cell] = value;
}

TEST(TopRanking, sortsAcrossProbesWorstFirstAndSkipsWhatIsNoPair) {
  std::vector<TopGrid> grids = {grid("tcp"), grid("udp")};
  set(grids[0], TopSort::kNetworkP99, 1, 500);
  set(grids[0], TopSort::kNetworkP99, 2, 900);
  set(grids[1], TopSort::kNetworkP99, 1, 700);
  set(grids[1], TopSort::kNetworkP99, 2, 100);
  EXPECT_THAT(names(grids, TopSort::kNetworkP99),
              ElementsAre("tcp 10.0.0.2>10.0.0.1", "udp 10.0.0.1>10.0.0.2", "tcp 10.0.0.1>10.0.0.2",
                          "udp 10.0.0.2>10.0.0.1"));
}

TEST(TopRanking, pairsWithoutTheFigureComeLastEvenAfterZero) {
  std::vector<TopGrid> grids = {grid("udp")};
  set(grids[0], TopSort::kLoss, 2, 0);
  EXPECT_THAT(names(grids, TopSort::kLoss),
              ElementsAre("udp 10.0.0.2>10.0.0.1", "udp 10.0.0.1>10.0.0.2"));
}

TEST(TopRanking, sortByStatePutsNetworkFaultsBeforeUnknownsAndUsesLossAmongEquals) {
  std::vector<TopGrid> grids = {grid("a"), grid("b")};
  grids[0].states[1] = PairState::kAgentDown;
  grids[0].states[2] = PairState::kLoss;
  grids[1].states[1] = PairState::kLoss;
  grids[1].states[2] = PairState::kPending;
  set(grids[0], TopSort::kLoss, 2, 0.1);
  set(grids[1], TopSort::kLoss, 1, 0.9);
  EXPECT_THAT(names(grids, TopSort::kState),
              ElementsAre("b 10.0.0.1>10.0.0.2", "a 10.0.0.2>10.0.0.1", "a 10.0.0.1>10.0.0.2",
                          "b 10.0.0.2>10.0.0.1"));
}

TEST(TopRanking, equalFiguresAreOrderedBySeverity) {
  std::vector<TopGrid> grids = {grid("udp")};
  set(grids[0], TopSort::kRtt, 1, 100);
  set(grids[0], TopSort::kRtt, 2, 100);
  grids[0].states[2] = PairState::kUnreachable;
  EXPECT_THAT(names(grids, TopSort::kRtt),
              ElementsAre("udp 10.0.0.2>10.0.0.1", "udp 10.0.0.1>10.0.0.2"));
}

TEST(TopRanking, whatIsJudgedOutweighsTheState) {
  std::vector<TopGrid> grids = {grid("udp")};
  grids[0].states[1] = PairState::kLoss;  // a single lost ping
  grids[0].severities = {std::nullopt, Severity::kOk, Severity::kSlow, std::nullopt};
  EXPECT_THAT(names(grids, TopSort::kState),
              ElementsAre("udp 10.0.0.2>10.0.0.1", "udp 10.0.0.1>10.0.0.2"));
  EXPECT_THAT(names(grids, TopSort::kState, "slow"), ElementsAre("udp 10.0.0.2>10.0.0.1"));
  grids[0].severities[2] = Severity::kNone;
  EXPECT_THAT(names(grids, TopSort::kState),
              ElementsAre("udp 10.0.0.1>10.0.0.2", "udp 10.0.0.2>10.0.0.1"));
}

TEST(TopRanking, filterLooksAtProbeAddressesAndState) {
  std::vector<TopGrid> grids = {grid("tcp"), grid("udp")};
  grids[1].states[2] = PairState::kAgentDown;
  EXPECT_THAT(names(grids, TopSort::kState, "tcp 10.0.0.2"), ElementsAre("tcp 10.0.0.2>10.0.0.1"));
  EXPECT_THAT(names(grids, TopSort::kState, "agent-down"), ElementsAre("udp 10.0.0.2>10.0.0.1"));
  EXPECT_THAT(names(grids, TopSort::kState, "nothing like it"), ElementsAre());
}

TEST(TopRanking, everyStateHasASeverityOfItsOwnAndOkIsTheLeast) {
  std::vector<int> all;
  for (std::size_t i = 0; i < kPairStateNames.size(); ++i) {
    all.push_back(severity(static_cast<PairState>(i)));
  }
  EXPECT_EQ(severity(PairState::kOk), 0);
  std::sort(all.begin(), all.end());
  EXPECT_THAT(all, ElementsAre(0, 1, 2, 3, 4, 5, 6, 7, 8));
}

TEST(TopRanking, sortNames) {
  EXPECT_EQ(topSortNamed("network_p99"), TopSort::kNetworkP99);
  EXPECT_EQ(topSortNamed("state"), TopSort::kState);
  EXPECT_EQ(topSortNamed("p99"), std::nullopt);
}

}  // namespace
}  // namespace pingloom::cli::top_ranking_test
