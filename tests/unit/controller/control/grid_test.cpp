#include "controller/control/grid.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "controller/model/grid_plan.h"
#include "unit/controller/same_shown_row.h"
#include "unit/controller/support.h"

namespace pingloom::controller::grid_test {
namespace {

using test::goodRow;
using test::ip;
using test::lossRow;
using test::registerOf;
using test::reportOf;

constexpr const char* kMesh = "  - { name: udp, protocol: udp, mesh: ['10.0.0.[1-3]'] }\n";

class GridTest : public testing::Test {
 protected:
  static constexpr Nanos kStart = 1'795'230'720 * kSecond;
  static constexpr std::uint64_t kIndex = kStart / (10 * kSecond);

  GridTest() { usePlan(kMesh); }

  Instant now() const { return {utc_ - kStart, utc_}; }
  void usePlan(const std::string& probes) {
    grid_.setPlan(makeGridPlan(test::pinglistOf(probes), ++generation_), now());
  }
  void come(const std::string& host, const std::string& address, std::uint64_t incarnation = 1) {
    ASSERT_TRUE(
        registry_.admit(registerOf(host, incarnation, {address}), host, std::nullopt, now()));
    settle();
  }
  void leave(const std::string& host) {
    registry_.goodbye(*registry_.find(host));
    settle();
  }
  void settle() {
    grid_.presenceChanged(registry_.takeChanged());
    utc_ += 2 * kSecond;  // past the pause between two derivations
    grid_.runDue(now());
  }
  Result<Grid::Applied> apply(const wire::Report& report, Grid::Origin origin) {
    const std::string bytes = report.SerializeAsString();
    EXPECT_TRUE(view_.read(bytes));
    const auto head = readHead(view_.head());
    EXPECT_TRUE(head) << head.error().text();
    origin.reported_utc = utc_;
    return grid_.apply(view_, *head, origin, now());
  }
  std::string stateOf(std::uint32_t source, std::uint32_t destination, std::uint32_t probe = 0) {
    const auto snapshot = board_.source(probe, source, generation_);
    const auto state = snapshot->states.at(destination);
    return state ? std::string(name(*state)) : "";
  }
  Row rowOf(std::uint32_t source, std::uint32_t destination, std::uint32_t probe = 0) {
    const auto snapshot = board_.source(probe, source, generation_);
    return snapshot->rows == nullptr ? Row{} : snapshot->rows->rows[destination];
  }
  std::vector<std::string> takeEvents() {
    std::vector<std::string> made;
    for (const StateEvent& event : feed_->take().events) {
      made.push_back(event.source.text() + ">" + event.destination.text() + " " +
                     std::string(name(event.from)) + ">" + std::string(name(event.to)));
    }
    return made;
  }

  Nanos utc_ = kStart + 10 * kSecond;
  Registry registry_;
  Board board_;
  std::shared_ptr<Feed> feed_ = board_.subscribe([] {});
  Grid grid_{registry_, board_};
  ReportView view_;
  std::uint64_t generation_ = 0;
};

TEST_F(GridTest, APairGoesFromPendingToOkAndSaysSo) {
  come("a", "10.0.0.1");
  EXPECT_EQ(stateOf(0, 1), "pending");
  EXPECT_EQ(stateOf(0, 0), "") << "a mesh excludes self";
  const auto applied = apply(
      reportOf("udp", "10.0.0.1", kIndex, {goodRow("10.0.0.2"), goodRow("10.0.0.3")}), {1, 1});
  ASSERT_TRUE(applied);
  EXPECT_EQ(applied->taken, 2U);
  EXPECT_EQ(stateOf(0, 1), "ok");
  EXPECT_EQ(rowOf(0, 2).network.p50, 9'004U);
  grid_.runDue(now());
  EXPECT_THAT(takeEvents(),
              testing::ElementsAre("10.0.0.1>10.0.0.2 pending>ok", "10.0.0.1>10.0.0.3 pending>ok"));
}

TEST_F(GridTest, RowsAreFromHereWhileTheirAgentIsRegisteredHere) {
  const auto report = [&](std::uint64_t index) {
    return reportOf("udp", "10.0.0.1", index, {goodRow("10.0.0.2"), goodRow("10.0.0.3")});
  };
  const auto here = [&] { return board_.source(0, 0, generation_)->here; };
  const auto event_here = [&] {
    grid_.runDue(now());
    const auto events = feed_->take().events;
    return !events.empty() && events.back().here;
  };
  ASSERT_TRUE(apply(report(kIndex), {0, 1}));
  EXPECT_FALSE(here()) << "the rows come from the history";
  EXPECT_FALSE(event_here());
  come("a", "10.0.0.1");
  EXPECT_FALSE(here()) << "it has not reported yet";
  ASSERT_TRUE(apply(report(kIndex + 1), {1, 1}));
  EXPECT_TRUE(here());
  EXPECT_TRUE(event_here());
  leave("a");
  EXPECT_TRUE(here()) << "nobody else says that they are stale";

  wire::RelayedAgent moved;
  *moved.mutable_registration() = registerOf("a", 1, {"10.0.0.1"});
  moved.set_alive(true);
  Agent* agent = registry_.takeRelayed(moved, "other", now());
  ASSERT_NE(agent, nullptr);
  settle();
  EXPECT_FALSE(here()) << "before its first report there";
  ASSERT_TRUE(apply(report(kIndex + 2), {agent->id, 1, 0, true, true}));
  EXPECT_FALSE(here());
  come("a", "10.0.0.1");
  EXPECT_FALSE(here()) << "it has come back, and its rows are the other one's";
  ASSERT_TRUE(apply(report(kIndex + 3), {agent->id, 1}));
  EXPECT_TRUE(here());
}

TEST_F(GridTest, SeveritiesAreRecordedAndToldWhenAWindowChangesThem) {
  come("a", "10.0.0.1");
  come("b", "10.0.0.2");
  come("c", "10.0.0.3");
  constexpr std::uint64_t kFirst = kIndex + 6;  // the agents were there before it began
  const auto window = [&](std::uint64_t index, bool lost) {
    utc_ = static_cast<Nanos>(index + 1) * 10 * kSecond + 2 * kSecond;
    const auto row = lost ? lossRow("10.0.0.2") : goodRow("10.0.0.2");
    ASSERT_TRUE(apply(reportOf("udp", "10.0.0.1", index, {row, goodRow("10.0.0.3")}), {1, 1}));
  };
  const auto taken = [&] {
    std::vector<std::string> made;
    for (const SeverityRecord& record : grid_.takeSeverities()) {
      const auto of = decodeSeverities(record.content).value();
      made.push_back(std::to_string(record.since_utc / (10 * kSecond) - std::int64_t{kFirst}) +
                     " " + std::string(name(of.of(ip("10.0.0.2")))) + " " +
                     std::string(name(of.of(ip("10.0.0.3")))));
    }
    return made;
  };
  window(kFirst, false);
  EXPECT_THAT(taken(), testing::ElementsAre("0 ok ok"));
  window(kFirst + 1, true);
  window(kFirst + 2, true);
  EXPECT_THAT(taken(), testing::IsEmpty()) << "two windows of five are no change";
  grid_.runDue(now());
  takeEvents();
  window(kFirst + 3, true);
  EXPECT_THAT(taken(), testing::ElementsAre("3 down ok"));
  grid_.runDue(now());
  const auto events = feed_->take().events;
  ASSERT_EQ(events.size(), 1U);
  EXPECT_EQ(events[0].from, events[0].to);
  EXPECT_EQ(events[0].severity_from, Severity::kOk);
  EXPECT_EQ(events[0].severity_to, Severity::kDown);
  grid_.setMaintenance({ip("10.0.0.2")});
  window(kFirst + 4, true);
  EXPECT_THAT(taken(), testing::ElementsAre("4 none ok"));
}

TEST_F(GridTest, ANewDestinationChangesNoSeverityOfTheOthers) {
  come("a", "10.0.0.1");
  come("b", "10.0.0.2");
  ASSERT_TRUE(apply(reportOf("udp", "10.0.0.1", kIndex, {goodRow("10.0.0.2")}), {1, 1}));
  grid_.runDue(now());
  takeEvents();
  usePlan("  - { name: udp, protocol: udp, mesh: ['10.0.0.[1-4]'] }\n");
  for (const StateEvent& event : feed_->take().events) {
    EXPECT_NE(event.destination, ip("10.0.0.2")) << name(event.severity_to);
  }
}

TEST_F(GridTest, AReplayNeverReplacesWhatIsNewer) {
  come("a", "10.0.0.1");
  ASSERT_TRUE(apply(reportOf("udp", "10.0.0.1", kIndex, {goodRow("10.0.0.2", 50'000)}), {1, 2}));
  const auto older = apply(reportOf("udp", "10.0.0.1", kIndex - 1, {goodRow("10.0.0.2")}), {1, 2});
  ASSERT_TRUE(older);
  EXPECT_EQ(older->ignored, 1U);
  const auto earlier_run =
      apply(reportOf("udp", "10.0.0.1", kIndex + 1, {goodRow("10.0.0.2")}), {1, 1});
  EXPECT_EQ(earlier_run->ignored, 1U);
  EXPECT_EQ(rowOf(0, 1).network.p50, 50'004U);
  ASSERT_TRUE(apply(reportOf("udp", "10.0.0.1", kIndex + 1, {goodRow("10.0.0.2")}), {1, 2}));
  EXPECT_EQ(rowOf(0, 1).network.p50, 9'004U);
}

TEST_F(GridTest, WhatIsRestoredGivesWayToWhatAgentsSay) {
  come("a", "10.0.0.1");
  ASSERT_TRUE(apply(reportOf("udp", "10.0.0.1", kIndex - 2, {goodRow("10.0.0.2")}), {0, 5}));
  ASSERT_TRUE(apply(reportOf("udp", "10.0.0.1", kIndex - 2, {goodRow("10.0.0.3")}), {0, 5}));
  EXPECT_EQ(rowOf(0, 1).network.p50, 9'004U) << "in two parts";
  EXPECT_EQ(rowOf(0, 2).network.p50, 9'004U);
  ASSERT_TRUE(
      apply(reportOf("udp", "10.0.0.1", kIndex - 1, {goodRow("10.0.0.2", 20'000)}), {1, 5}));
  EXPECT_EQ(rowOf(0, 1).network.p50, 20'004U);
  const auto restored =
      apply(reportOf("udp", "10.0.0.1", kIndex, {goodRow("10.0.0.2", 50'000)}), {0, 5});
  ASSERT_TRUE(restored);
  EXPECT_EQ(restored->ignored, 1U);
  EXPECT_EQ(rowOf(0, 1).network.p50, 20'004U);
}

TEST_F(GridTest, IncarnationsOfAnotherAgentDoNotCompare) {
  come("a", "10.0.0.1");
  ASSERT_TRUE(apply(reportOf("udp", "10.0.0.1", kIndex, {goodRow("10.0.0.2")}), {1, 900}));
  ASSERT_TRUE(
      apply(reportOf("udp", "10.0.0.1", kIndex + 1, {goodRow("10.0.0.2", 50'000)}), {2, 1}));
  EXPECT_EQ(rowOf(0, 1).network.p50, 50'004U);
}

TEST_F(GridTest, AWindowMayComeInParts) {
  come("a", "10.0.0.1");
  ASSERT_TRUE(apply(reportOf("udp", "10.0.0.1", kIndex, {goodRow("10.0.0.2")}), {1, 1}));
  ASSERT_TRUE(apply(reportOf("udp", "10.0.0.1", kIndex, {goodRow("10.0.0.3")}), {1, 1}));
  EXPECT_EQ(stateOf(0, 1), "ok");
  EXPECT_EQ(stateOf(0, 2), "ok");
  ASSERT_TRUE(apply(reportOf("udp", "10.0.0.1", kIndex + 1, {goodRow("10.0.0.3")}), {1, 1}));
  EXPECT_EQ(stateOf(0, 1), "pending") << "the newest window has no row of it";
  EXPECT_EQ(rowOf(0, 1).sent, 0U);
}

TEST_F(GridTest, AReportIsTakenWholeOrNotAtAll) {
  come("a", "10.0.0.1");
  wire::Row bad = goodRow("10.0.0.3");
  bad.set_sent(11);
  EXPECT_FALSE(apply(reportOf("udp", "10.0.0.1", kIndex, {goodRow("10.0.0.2"), bad}), {1, 1}));
  EXPECT_EQ(rowOf(0, 1).sent, 0U);
  EXPECT_FALSE(apply(reportOf("gone", "10.0.0.1", kIndex, {bad}), {1, 1}))
      << "checked also where it would be ignored";
}

TEST_F(GridTest, IgnoresRowsOfPairsThatAreNotInThePlan) {
  come("a", "10.0.0.1");
  const auto some = apply(
      reportOf("udp", "10.0.0.1", kIndex,
               {goodRow("10.0.0.1"), goodRow("10.0.0.2"), goodRow("10.0.0.9"), goodRow("fd00::2")}),
      {1, 1});
  ASSERT_TRUE(some);
  EXPECT_EQ(some->taken, 1U);
  EXPECT_EQ(some->ignored, 3U);
  EXPECT_EQ(apply(reportOf("other", "10.0.0.1", kIndex, {goodRow("10.0.0.2")}), {1, 1})->ignored,
            1U);
  EXPECT_EQ(apply(reportOf("udp", "10.0.0.8", kIndex, {goodRow("10.0.0.2")}), {1, 1})->ignored, 1U);
}

TEST_F(GridTest, APlanChangeKeepsTheRowsOfPairsThatStay) {
  come("a", "10.0.0.1");
  ASSERT_TRUE(apply(reportOf("udp", "10.0.0.1", kIndex,
                             {goodRow("10.0.0.2", 20'000), goodRow("10.0.0.3", 30'000)}),
                    {1, 1}));
  grid_.runDue(now());
  takeEvents();
  usePlan(
      "  - { name: new, protocol: udp, mesh: ['10.0.0.[1-2]'] }\n"
      "  - { name: udp, protocol: udp, mesh: ['10.0.0.1', '10.0.0.[3-5]'] }\n");
  EXPECT_EQ(rowOf(0, 1, 1).network.p50, 30'004U) << "10.0.0.3 stays";
  EXPECT_EQ(stateOf(0, 1, 1), "ok");
  EXPECT_EQ(stateOf(0, 2, 1), "pending") << "10.0.0.4 is new";
  EXPECT_EQ(stateOf(0, 1, 0), "pending");
  EXPECT_TRUE(takeEvents().empty()) << "nothing changed for the pair that stays";
  usePlan("  - { name: udp, protocol: tcp, mesh: ['10.0.0.1', '10.0.0.3'] }\n");
  EXPECT_EQ(rowOf(0, 1).sent, 0U) << "another protocol measures something else";
}

TEST_F(GridTest, LossIsAgentDownWhileTheDestinationsAgentIsAway) {
  come("a", "10.0.0.1");
  come("b", "10.0.0.2");
  const auto lossAt = [&](std::uint64_t index) {
    const Nanos end = static_cast<Nanos>(index + 1) * 10 * kSecond;
    utc_ = std::max(utc_, end + kSecond);
    return apply(reportOf("udp", "10.0.0.1", index, {lossRow("10.0.0.2"), goodRow("10.0.0.3")}),
                 {1, 1});
  };
  ASSERT_TRUE(lossAt(kIndex + 2));
  EXPECT_EQ(stateOf(0, 1), "loss") << "b is there all the time";
  EXPECT_EQ(stateOf(0, 2), "ok") << "everything was answered, whoever did it";
  leave("b");
  EXPECT_EQ(stateOf(0, 1), "agent-down");
  come("b", "10.0.0.2", 2);
  EXPECT_EQ(stateOf(0, 1), "agent-down") << "it was away since the window began";
  ASSERT_TRUE(lossAt(kIndex + 3));
  EXPECT_EQ(stateOf(0, 1), "agent-down") << "or in it";
  ASSERT_TRUE(lossAt(kIndex + 4));
  EXPECT_EQ(stateOf(0, 1), "loss") << "it was there the whole window";
}

TEST_F(GridTest, AServiceNeedsNoAgent) {
  usePlan("  - { name: nfs, protocol: tcp, from: [10.0.0.1], to: [10.0.0.2], port: 2049 }\n");
  come("a", "10.0.0.1");
  auto report = reportOf("nfs", "10.0.0.1", kIndex, {lossRow("10.0.0.2")});
  report.set_protocol(wire::TCP);
  ASSERT_TRUE(apply(report, {1, 1}));
  EXPECT_EQ(stateOf(0, 0), "loss");
}

TEST_F(GridTest, ASourceWithoutALeaseIsStale) {
  come("a", "10.0.0.1");
  ASSERT_TRUE(apply(reportOf("udp", "10.0.0.1", kIndex, {goodRow("10.0.0.2")}), {1, 1}));
  leave("a");
  EXPECT_EQ(stateOf(0, 1), "stale");
  EXPECT_EQ(stateOf(0, 2), "stale");
  come("a", "10.0.0.1", 2);
  EXPECT_EQ(stateOf(0, 1), "ok");
  EXPECT_EQ(stateOf(1, 0), "pending") << "never there";
}

TEST_F(GridTest, AnOldWindowBecomesStaleWhenItIsDueAndNotBefore) {
  come("a", "10.0.0.1");
  ASSERT_TRUE(apply(reportOf("udp", "10.0.0.1", kIndex, {goodRow("10.0.0.2")}), {1, 1}));
  const Nanos due = kStart + 10 * kSecond + staleAfter(10 * kSecond, 500 * kMillisecond);
  EXPECT_EQ(grid_.nextDueUtc(), due);
  utc_ = due - 1;
  grid_.runDue(now());
  EXPECT_EQ(stateOf(0, 1), "ok");
  utc_ = due;
  grid_.runDue(now());
  EXPECT_EQ(stateOf(0, 1), "stale");
  ASSERT_TRUE(apply(reportOf("udp", "10.0.0.1", kIndex + 2, {goodRow("10.0.0.2")}), {1, 1}));
  EXPECT_EQ(stateOf(0, 1), "ok");
  EXPECT_EQ(grid_.nextDueUtc(), due + 20 * kSecond);
}

TEST_F(GridTest, AMassOfChangesIsDerivedToo) {
  usePlan("  - { name: udp, protocol: udp, mesh: ['10.0.0.[1-100]'] }\n");
  std::vector<wire::Row> rows;
  for (int i = 2; i <= 100; ++i) rows.push_back(lossRow("10.0.0." + std::to_string(i)));
  come("a", "10.0.0.1");
  ASSERT_TRUE(apply(reportOf("udp", "10.0.0.1", kIndex - 1, rows), {1, 1}));
  EXPECT_EQ(stateOf(0, 5), "agent-down");
  wire::Register all = registerOf("b", 1, {});
  for (int i = 2; i <= 100; ++i) all.add_addresses(ip("10.0.0." + std::to_string(i)).wire());
  ASSERT_TRUE(registry_.admit(all, "b", 1, now())) << "it was there before the controller was";
  settle();
  EXPECT_EQ(stateOf(0, 5), "loss");
  EXPECT_EQ(stateOf(0, 99), "loss");
}

// The fabric's probes by rdma: what a source is not told of it does not ping.
class RdmaGridTest : public GridTest {
 protected:
  RdmaGridTest() { usePlan("  - { name: rail, protocol: rdma, mesh: ['10.0.0.[1-3]'] }\n"); }

  void comeWithEndpoint(const std::string& host, const std::string& address, std::uint32_t qpn,
                        std::uint64_t incarnation = 1) {
    auto request = registerOf(host, incarnation, {address});
    if (qpn != 0) test::addEndpoint(request, address, qpn);
    ASSERT_TRUE(registry_.admit(request, host, std::nullopt, now()));
    settle();
  }
  // Delivered when it is due.
  void window(std::uint64_t index, const std::vector<wire::Row>& rows, std::uint32_t path = 0) {
    utc_ = std::max(utc_, static_cast<Nanos>(index + 1) * 10 * kSecond + 1'500 * kMillisecond);
    auto report = reportOf("rail", "10.0.0.1", index, rows);
    report.set_protocol(wire::RDMA);
    report.set_path(path);
    ASSERT_TRUE(apply(report, {1, 1}));
    grid_.runDue(now());
  }
};

TEST_F(RdmaGridTest, ARestartIsAgentDownOrPendingAndNeverLoss) {
  comeWithEndpoint("a", "10.0.0.1", 17);
  EXPECT_EQ(stateOf(0, 1), "pending");
  comeWithEndpoint("b", "10.0.0.2", 18);
  window(kIndex + 1, {goodRow("10.0.0.2")});
  EXPECT_EQ(stateOf(0, 1), "ok");
  // Killed and started again within the next window: some pings went to its old queue pair.
  utc_ = static_cast<Nanos>(kIndex + 2) * 10 * kSecond + 4 * kSecond;
  comeWithEndpoint("b", "10.0.0.2", 99, 2);
  EXPECT_EQ(stateOf(0, 1), "ok") << "the window that is known was answered";
  window(kIndex + 2, {lossRow("10.0.0.2")});
  EXPECT_EQ(stateOf(0, 1), "agent-down");
  window(kIndex + 3, {lossRow("10.0.0.2")});
  EXPECT_EQ(stateOf(0, 1), "loss") << "it was there the whole window";
}

TEST_F(RdmaGridTest, ItsPeersNeedAMomentToHearOfANewQueuePair) {
  comeWithEndpoint("a", "10.0.0.1", 17);
  comeWithEndpoint("b", "10.0.0.2", 18);
  // Registered 0.1 s before the window began; the last peer heard of it 0.3 s later.
  utc_ = static_cast<Nanos>(kIndex + 4) * 10 * kSecond - 100 * kMillisecond;
  comeWithEndpoint("b", "10.0.0.2", 99, 2);
  window(kIndex + 4, {lossRow("10.0.0.2")});
  EXPECT_EQ(stateOf(0, 1), "agent-down");
}

TEST_F(RdmaGridTest, AnEndpointMadeAnewIsNotLossEither) {
  comeWithEndpoint("a", "10.0.0.1", 17);
  comeWithEndpoint("b", "10.0.0.2", 18);
  utc_ = static_cast<Nanos>(kIndex + 4) * 10 * kSecond + 4 * kSecond;
  comeWithEndpoint("b", "10.0.0.2", 99);  // the same process
  window(kIndex + 4, {lossRow("10.0.0.2")});
  EXPECT_EQ(stateOf(0, 1), "agent-down");
}

wire::Row unreachableRow(const std::string& destination) {
  wire::Row row = lossRow(destination);
  row.set_unreachable(row.lost());
  row.clear_lost();
  return row;
}

TEST_F(RdmaGridTest, WhoIsGoneIsAgentDownAndWhoHasNoEndpointUnreachable) {
  comeWithEndpoint("a", "10.0.0.1", 17);
  window(kIndex + 1, {unreachableRow("10.0.0.2")});
  EXPECT_EQ(stateOf(0, 1), "agent-down") << "never there";
  comeWithEndpoint("b", "10.0.0.2", 18);
  window(kIndex + 3, {goodRow("10.0.0.2")});
  leave("b");
  EXPECT_EQ(stateOf(0, 1), "ok") << "that window was answered";
  window(kIndex + 4, {unreachableRow("10.0.0.2")});
  EXPECT_EQ(stateOf(0, 1), "agent-down");
  comeWithEndpoint("b", "10.0.0.2", 0, 2);  // the agent is there, its device is gone
  EXPECT_EQ(stateOf(0, 1), "agent-down") << "of the window in which it was away";
  window(kIndex + 7, {unreachableRow("10.0.0.2")});
  EXPECT_EQ(stateOf(0, 1), "unreachable") << "its host is there, its port is not";
  comeWithEndpoint("b", "10.0.0.2", 20, 2);
  window(kIndex + 9, {unreachableRow("10.0.0.2")});
  EXPECT_EQ(stateOf(0, 1), "unreachable") << "it was there the whole window";
}

TEST_F(RdmaGridTest, PathsAreKeptBesideTheirMerge) {
  usePlan("  - { name: rail, protocol: rdma, mesh: ['10.0.0.[1-3]'], paths: 2 }\n");
  comeWithEndpoint("a", "10.0.0.1", 17);
  comeWithEndpoint("b", "10.0.0.2", 18);
  const auto at = [&] { return board_.source(0, 0, generation_); };
  wire::Row half = goodRow("10.0.0.2");
  half.set_sent(20);
  half.set_lost(10);
  window(kIndex + 2, {half});
  EXPECT_EQ(stateOf(0, 1), "loss");
  EXPECT_EQ(at()->rows->ofPath(1), nullptr) << "not reported yet";
  window(kIndex + 2, {goodRow("10.0.0.2")}, 1);
  window(kIndex + 2, {lossRow("10.0.0.2")}, 2);
  EXPECT_EQ(rowOf(0, 1).lost, 10U);
  EXPECT_EQ(rowOf(0, 1).sent, 20U) << "the merge stays the merge";
  ASSERT_NE(at()->rows->ofPath(2), nullptr);
  EXPECT_EQ((*at()->rows->ofPath(1))[1].received, 10U);
  EXPECT_EQ((*at()->rows->ofPath(2))[1].lost, 10U);
  EXPECT_EQ(at()->statesOf(1)[1], PairState::kOk);
  EXPECT_EQ(at()->statesOf(2)[1], PairState::kLoss);
  EXPECT_EQ(at()->statesOf(1)[2], std::nullopt) << "no row";
  window(kIndex + 3, {goodRow("10.0.0.2")});
  EXPECT_EQ(at()->rows->ofPath(2), nullptr) << "another window";
  auto unknown = reportOf("rail", "10.0.0.1", kIndex + 3, {goodRow("10.0.0.2")});
  unknown.set_protocol(wire::RDMA);
  unknown.set_path(3);
  EXPECT_EQ(apply(unknown, {1, 1})->ignored, 1U) << "the plan has two";
  window(kIndex + 3, {goodRow("10.0.0.2")}, 1);
  usePlan("  - { name: rail, protocol: rdma, mesh: ['10.0.0.[1-3]'] }\n");
  EXPECT_EQ(rowOf(0, 1).received, 10U);
  EXPECT_TRUE(at()->rows->paths.empty());
}

TEST_F(RdmaGridTest, WhatIsToldIsShownAsTheRowsThemselves) {
  usePlan("  - { name: rail, protocol: rdma, mesh: ['10.0.0.[1-3]'], paths: 2 }\n");
  comeWithEndpoint("a", "10.0.0.1", 17);
  comeWithEndpoint("b", "10.0.0.2", 18);
  Board other_board;
  Grid other(registry_, other_board);
  other.setPlan(grid_.sharedPlan(), now());
  const auto relay = [&](std::uint64_t index, std::uint32_t path, const wire::Row& row) {
    auto report = reportOf("rail", "10.0.0.1", index, {row, goodRow("10.0.0.1")});
    report.set_protocol(wire::RDMA);
    report.set_path(path);
    const std::string bytes = report.SerializeAsString();
    EXPECT_TRUE(view_.read(bytes));
    const ReportHead head = *readHead(view_.head());
    wire::RelayedReport told;
    *told.mutable_head() = view_.head();
    const auto here = grid_.apply(view_, head, {1, 1, utc_}, now(), told.mutable_rows());
    if (!here->shown) return false;
    const auto there = other.apply(told, head, {1, 1, utc_}, now());
    EXPECT_EQ(here->taken, 1U);
    EXPECT_EQ(there->taken, 1U);
    EXPECT_EQ(there->ignored, 0U) << "a row without a pair is not told";
    return true;
  };
  EXPECT_TRUE(relay(kIndex, 0, goodRow("10.0.0.2")));
  EXPECT_TRUE(relay(kIndex, 1, goodRow("10.0.0.2", 70'000)));
  EXPECT_TRUE(relay(kIndex, 2, lossRow("10.0.0.2")));
  EXPECT_FALSE(relay(kIndex - 1, 0, goodRow("10.0.0.2"))) << "it is older";
  EXPECT_FALSE(relay(kIndex, 3, goodRow("10.0.0.2"))) << "the plan has two";
  const auto at = board_.source(0, 0, generation_);
  const auto there = other.snapshots()[0][0];
  EXPECT_EQ(there->states, at->states);
  EXPECT_EQ(there->rows->device, "eth0");
  for (std::uint32_t path = 0; path < 3; ++path) {
    EXPECT_EQ(there->statesOf(path), at->statesOf(path));
    EXPECT_GT((*at->rows->ofPath(path))[1].sent, 0U);
    EXPECT_TRUE(test::sameRow((*there->rows->ofPath(path))[1], (*at->rows->ofPath(path))[1]));
  }
}

TEST_F(GridTest, WhatWasCommittedByAnEarlierRunIsStaleUntilItsAgentIsBack) {
  ASSERT_TRUE(apply(reportOf("udp", "10.0.0.1", kIndex, {goodRow("10.0.0.2")}), {0, 7}));
  EXPECT_EQ(stateOf(0, 1), "stale");
  come("a", "10.0.0.1", 7);
  EXPECT_EQ(stateOf(0, 1), "ok");
  const auto again = apply(reportOf("udp", "10.0.0.1", kIndex - 1, {goodRow("10.0.0.2")}), {1, 7});
  EXPECT_EQ(again->ignored, 1U) << "a replay of before";
}

}  // namespace
}  // namespace pingloom::controller::grid_test
