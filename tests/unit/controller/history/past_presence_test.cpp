#include "controller/history/past_presence.h"

#include <gtest/gtest.h>

#include "controller/control/presence_log.h"
#include "unit/controller/support.h"

namespace pingloom::controller::past_presence_test {
namespace {

using test::ip;
using Kind = PresenceRecord::Kind;

constexpr Nanos kUtc = 1'795'230'720 * kSecond;
const IpAddress kA = ip("10.0.0.1");
const IpAddress kB = ip("10.0.0.2");

PastPresence presenceOf(const std::vector<PresenceRecord>& records) {
  PastPresence presence;
  for (const PresenceRecord& record : records) presence.add(record);
  return presence;
}

// Seconds after kUtc.
bool away(const PastPresence& presence, int from, int until, bool rdma = false) {
  return presence.awayIn(kA, kUtc + from * kSecond, kUtc + until * kSecond, rdma);
}

PresenceRecord at(int second, Kind kind) { return {kUtc + second * kSecond, kA, kind}; }
PresenceRecord start(int second) { return {kUtc + second * kSecond, std::nullopt, Kind::kGone}; }

TEST(PastPresence, WhoWasThereAllTheTimeWasNotAway) {
  const auto presence =
      presenceOf({start(0), at(10, Kind::kCame), at(60, Kind::kGone), at(90, Kind::kCame)});
  EXPECT_FALSE(away(presence, -10, 0)) << "nothing was recorded then";
  EXPECT_TRUE(away(presence, 5, 12));
  EXPECT_FALSE(away(presence, 10, 60));
  EXPECT_TRUE(away(presence, 55, 65));
  EXPECT_TRUE(away(presence, 70, 80));
  EXPECT_TRUE(away(presence, 85, 95));
  EXPECT_FALSE(away(presence, 90, 1000));
  EXPECT_TRUE(presence.awayIn(kB, kUtc + kSecond, kUtc + kMinute, false)) << "it never came";
}

TEST(PastPresence, AnAgentThatWasMadeAnewWasAwayInBetween) {
  const auto presence = presenceOf({start(0), at(10, Kind::kCame), at(50, Kind::kCame)});
  EXPECT_TRUE(away(presence, 45, 55));
  EXPECT_FALSE(away(presence, 20, 40));
  EXPECT_FALSE(away(presence, 50, 60));
}

TEST(PastPresence, WhoOutlivedTheControllerWasThereMeanwhile) {
  const auto stayed =
      presenceOf({start(0), at(10, Kind::kCame), start(100), at(103, Kind::kStayed)});
  EXPECT_FALSE(away(stayed, 95, 110));
  const auto lost = presenceOf({start(0), at(10, Kind::kCame), start(100)});
  EXPECT_TRUE(away(lost, 95, 110));
  const auto first = presenceOf({start(0), at(3, Kind::kStayed)});
  EXPECT_FALSE(away(first, 0, 10));
  // It was gone before the controller was, and came back while that was away.
  const auto gone = presenceOf(
      {start(0), at(10, Kind::kCame), at(50, Kind::kGone), start(100), at(103, Kind::kStayed)});
  EXPECT_TRUE(away(gone, 60, 70));
  EXPECT_FALSE(away(gone, 100, 110));
}

TEST(PastPresence, AnotherEndpointCountsForRdmaOnly) {
  const auto presence = presenceOf({start(0), at(10, Kind::kCame), at(50, Kind::kEndpoint)});
  EXPECT_TRUE(away(presence, 45, 55, true));
  EXPECT_FALSE(away(presence, 45, 55, false));
  EXPECT_FALSE(away(presence, 60, 70, true));
  EXPECT_FALSE(away(presence, 20, 30, true));
}

ProbeGrid gridOf(Protocol protocol = Protocol::kUdp) {
  ProbeGrid grid;
  grid.spec.name = "mesh";
  grid.spec.protocol = protocol;
  grid.sources = grid.destinations = {kA, kB};
  return grid;
}

// Returns the states of a source with one pair that sent 10.
States statesAt(const ProbeGrid& grid, int second, std::uint32_t received,
                const PastPresence& presence) {
  CountRun counts[2];
  counts[0] = {
      {.sent = 10, .received = received, .lost = 10 - received, .timed = received > 0 ? 1U : 0U},
      1};
  counts[1].end = 2;
  const std::uint64_t figures[2] = {kNoFigure, kNoFigure};
  States states;
  pastStates(grid, kB, PastWindow{kUtc + second * kSecond, 10 * kSecond, counts, figures}, presence,
             kUtc + second * kSecond, states);
  return states;
}

TEST(PastStates, ALossToAHostThatWasAwayIsAgentDown) {
  const auto presence = presenceOf({start(0), at(1, Kind::kCame), at(60, Kind::kGone)});
  const auto state = [&](int window, std::uint32_t received, const ProbeGrid& grid) {
    const States states = statesAt(grid, window, received, presence);
    EXPECT_FALSE(states[1]);
    return states[0];
  };
  EXPECT_EQ(state(30, 5, gridOf()), PairState::kLoss);
  EXPECT_EQ(state(50, 5, gridOf()), PairState::kAgentDown) << "timeout included";
  EXPECT_EQ(state(50, 10, gridOf()), PairState::kOk);
  EXPECT_EQ(state(80, 0, gridOf()), PairState::kAgentDown);
  ProbeGrid service = gridOf(Protocol::kTcp);
  service.spec.port = 2049;
  EXPECT_EQ(state(80, 0, service), PairState::kLoss) << "no agent answers there";
}

TEST(PastStates, ASourceWithoutAWindowIsStaleOrPending) {
  const auto presence = presenceOf({start(0), at(100, Kind::kCame), at(200, Kind::kGone)});
  const auto states = [&](int second) {
    States made = {PairState::kOk};  // of another source: it goes
    pastStates(gridOf(), kA, std::nullopt, presence, kUtc + second * kSecond, made);
    return made;
  };
  const States pending = {std::nullopt, PairState::kPending};
  const States stale = {std::nullopt, PairState::kStale};
  EXPECT_EQ(states(-10), stale) << "what was before anything was recorded";
  EXPECT_EQ(states(50), pending) << "it never was there";
  EXPECT_EQ(states(105), pending) << "it has just come";
  EXPECT_EQ(states(190), stale);
  EXPECT_EQ(states(250), stale);
}

TEST(PresenceLog, SaysWhoCameAndWent) {
  Registry registry;
  PresenceLog log(kUtc);
  EXPECT_EQ(log.take(), (std::vector<PresenceRecord>{start(0)}));
  const auto note = [&](Instant now) {
    log.note(registry, registry.takeChanged(), now);
    return log.take();
  };
  Instant now{kSecond, kUtc + kSecond};
  ASSERT_TRUE(registry.admit(test::registerOf("a", 5, {"10.0.0.1"}), "r1", std::nullopt, now));
  EXPECT_EQ(note(now), (std::vector<PresenceRecord>{at(1, Kind::kCame)}));
  ASSERT_TRUE(registry.admit(test::registerOf("a", 5, {"10.0.0.1"}), "r2", std::nullopt, now));
  EXPECT_TRUE(note(now).empty()) << "the same agent on another connection";
  now = {10 * kSecond, kUtc + 10 * kSecond};
  registry.expire(now);
  EXPECT_EQ(note(now), (std::vector<PresenceRecord>{at(1, Kind::kGone)})) << "heard last then";
  ASSERT_TRUE(registry.admit(test::registerOf("a", 6, {"10.0.0.1"}), "r3", std::nullopt, now));
  EXPECT_EQ(note(now), (std::vector<PresenceRecord>{at(10, Kind::kCame)}));
}

TEST(PresenceLog, AnAgentThatOutlivedTheControllerStayed) {
  Registry registry;
  PresenceLog log(kUtc);
  (void)log.take();
  const Instant now{kSecond, kUtc + kSecond};
  ASSERT_TRUE(registry.admit(test::registerOf("a", 5, {"10.0.0.1"}), "r1", 5, now));
  log.note(registry, registry.takeChanged(), now);
  EXPECT_EQ(log.take(), (std::vector<PresenceRecord>{at(1, Kind::kStayed)}));
}

}  // namespace
}  // namespace pingloom::controller::past_presence_test
