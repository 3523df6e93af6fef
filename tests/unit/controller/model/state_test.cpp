#include "controller/model/state.h"

#include <gtest/gtest.h>

namespace pingloom::controller::state_test {
namespace {

Row rowOf(std::uint32_t received, std::uint32_t lost, std::uint32_t refused,
          std::uint32_t unreachable, std::uint32_t stalled = 0, std::uint64_t timed = 1) {
  Row row;
  row.received = received;
  row.lost = lost;
  row.refused = refused;
  row.unreachable = unreachable;
  row.sent = received + lost + refused + unreachable;
  row.anomalous[0] = stalled;
  row.network.count = timed;
  return row;
}

constexpr PairFacts kThere{true, true, false, true, false};

PairFacts with(PairFacts facts, bool PairFacts::*which, bool value) {
  facts.*which = value;
  return facts;
}

TEST(State, FollowsTheTableLineByLine) {
  const Row none;
  const Row fine = rowOf(10, 0, 0, 0);
  const Row everything = rowOf(1, 1, 1, 1, 1);
  Row misfit = everything;
  misfit.misfit = 1;
  const PairFacts never_there{false, false, false, true, true};
  const PairFacts gone = with(kThere, &PairFacts::source_alive, false);
  const PairFacts outdated = with(kThere, &PairFacts::window_outdated, true);
  const PairFacts away = with(kThere, &PairFacts::destination_away, true);
  const PairFacts service = with(away, &PairFacts::needs_agent, false);
  const struct {
    const char* what;
    Row row;
    PairFacts facts;
    PairState state;
  } table[] = {
      {"no window yet", none, kThere, PairState::kPending},
      {"no window yet, others of its source have old ones", none, outdated, PairState::kPending},
      {"its source was never there", none, never_there, PairState::kPending},
      {"no window, and its source has gone", none, gone, PairState::kStale},
      {"its source has gone", fine, gone, PairState::kStale},
      {"a window of an earlier run, its source not back yet", fine, never_there, PairState::kStale},
      {"its window is old", fine, outdated, PairState::kStale},
      {"stale comes before agent-down", everything,
       with(outdated, &PairFacts::destination_away, true), PairState::kStale},
      {"agent-down comes before all that was counted", everything, away, PairState::kAgentDown},
      {"away, but everything was answered", fine, away, PairState::kOk},
      {"a service needs no agent", everything, service, PairState::kRefused},
      {"agent-down comes before misfit", misfit, away, PairState::kAgentDown},
      {"misfit comes before refused", misfit, kThere, PairState::kMisfit},
      {"refused comes before unreachable", everything, kThere, PairState::kRefused},
      {"unreachable comes before loss", rowOf(1, 1, 0, 1), kThere, PairState::kUnreachable},
      {"loss comes before anomalous", rowOf(2, 1, 0, 0, 2, 0), kThere, PairState::kLoss},
      {"nothing came back", rowOf(0, 10, 0, 0), kThere, PairState::kLoss},
      {"no exchange has a network time", rowOf(10, 0, 0, 0, 0, 0), kThere, PairState::kAnomalous},
      {"more than half are anomalous", rowOf(10, 0, 0, 0, 6), kThere, PairState::kAnomalous},
      {"half of them are not more than half", rowOf(10, 0, 0, 0, 5), kThere, PairState::kOk},
      {"fine", fine, kThere, PairState::kOk},
  };
  for (const auto& line : table) {
    EXPECT_EQ(name(deriveState(countsOf(line.row), line.facts)), name(line.state)) << line.what;
  }
}

TEST(State, IsStaleAfterTwoWindowsTheTimeoutAndThreeSeconds) {
  EXPECT_EQ(staleAfter(10 * kSecond, 500 * kMillisecond), 23'500 * kMillisecond);
}

}  // namespace
}  // namespace pingloom::controller::state_test
