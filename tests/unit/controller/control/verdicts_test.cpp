#include "controller/control/verdicts.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <nlohmann/json.hpp>
#include <set>

#include "controller/model/grid_plan.h"
#include "unit/controller/support.h"

namespace pingloom::controller::verdicts_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

// A mesh of six hosts whose windows of a second are reported as a test says.
class VerdictsTest : public testing::Test {
 protected:
  static constexpr Nanos kStart = 1'795'230'720 * kSecond;
  static constexpr int kHosts = 6;

  VerdictsTest() {
    const auto pinglist = test::pinglistOf(
        "  - { name: udp, protocol: udp, window: 1s, interval: 100ms, mesh: ['10.0.0.[1-6]'] }\n");
    grid_.setPlan(makeGridPlan(pinglist, 1), now());
    verdicts_.setPlan(grid_.sharedPlan(), now());
    for (int i = 1; i <= kHosts; ++i) {
      const std::string host = fmt::format("host-{}", i);
      EXPECT_TRUE(
          registry_.admit(test::registerOf(host, 1, {address(i)}), host, std::nullopt, now()));
    }
    grid_.presenceChanged(registry_.takeChanged());
  }

  static std::string address(int host) { return fmt::format("10.0.0.{}", host); }
  Instant now() const { return {utc_ - kStart + kSecond, utc_}; }

  static constexpr std::uint64_t kOneLost = 1;
  static wire::Row oneLostRow(const std::string& destination) {
    wire::Row row = test::goodRow(destination);
    row.set_received(9);
    row.set_lost(1);
    Distribution samples;
    for (std::uint64_t i = 0; i < 9; ++i) samples.add(9'000 + i);
    for (wire::SampleSet* set : {row.mutable_network(), row.mutable_responder(),
                                 row.mutable_prober(), row.mutable_rtt()}) {
      set->Clear();
      wire::encode(samples, *set);
    }
    return row;
  }

  // The window that ended a second ago, in which only network times differ. A network time of 0
  // stands for a pair that loses everything, and kOneLost for one that loses one ping of ten.
  wire::Report report(int from, const std::function<std::uint64_t(int, int)>& network) const {
    std::vector<wire::Row> rows;
    for (int to = 1; to <= kHosts; ++to) {
      if (to == from) continue;
      if (network(from, to) == 0) {
        rows.push_back(test::lossRow(address(to)));
        continue;
      }
      if (network(from, to) == kOneLost) {
        rows.push_back(oneLostRow(address(to)));
        continue;
      }
      wire::Row& row = rows.emplace_back(test::goodRow(address(to)));
      Distribution samples;
      for (std::uint64_t i = 0; i < 10; ++i) samples.add(network(from, to) + i);
      row.clear_network();
      wire::encode(samples, *row.mutable_network());
    }
    const auto index = static_cast<std::uint64_t>(utc_ / kSecond - 2);
    return test::reportOf("udp", address(from), index, rows, kSecond);
  }

  // Reports so many windows, each followed by two conclusions.
  void windows(int count, const std::function<std::uint64_t(int, int)>& network) {
    for (int i = 0; i < count; ++i) {
      for (int from = 1; from <= kHosts; ++from) {
        const std::string bytes = report(from, network).SerializeAsString();
        ASSERT_TRUE(view_.read(bytes));
        const auto head = readHead(view_.head());
        ASSERT_TRUE(head) << head.error().text();
        ASSERT_TRUE(grid_.apply(view_, *head, {static_cast<AgentId>(from), 1, utc_}, now()));
        for (const auto& [id, agent] : registry_.agents()) {
          if (agent->route != fmt::format("host-{}", silent_)) {
            registry_.heard(agent->route, now());
          }
        }
      }
      for (int half = 0; half < 2; ++half) {
        utc_ += 500 * kMillisecond;
        grid_.runDue(now());
        verdicts_.run(now());
      }
    }
  }
  nlohmann::json order(VerdictOrder wanted) {
    nlohmann::json made;
    EXPECT_TRUE(orders_.ask(std::move(wanted), [&made](const OrderAnswer& answer) {
      made = answer ? nlohmann::json::parse(*answer) : nlohmann::json(answer.error().text());
    }));
    verdicts_.run(now());
    return made;
  }

  static std::uint64_t well(int from, int to) {
    return 10'000 + static_cast<std::uint64_t>(from * 100 + to);
  }
  static std::uint64_t thirdSlow(int from, int to) {
    return from == 3 || to == 3 ? 8'000'000 : well(from, to);
  }

  Nanos utc_ = kStart + 10 * kSecond;
  int silent_ = 0;  // the host whose agent is not heard
  Registry registry_;
  Board board_;
  Grid grid_{registry_, board_};
  OrderBoard orders_;
  BurstBoard bursts_;
  Verdicts verdicts_{grid_, registry_, board_, orders_, bursts_};
  ReportView view_;
};

// Three leaves with two hosts each, and two spines. The link from the first leaf to the second
// spine loses a few packets, which is in doubt at first.
TEST_F(VerdictsTest, AgentsOfOtherControllersAreOrderedToConfirm) {
  for (int from = 1; from <= kHosts; ++from) {
    registry_.movedTo(*registry_.find(fmt::format("host-{}", from)), "another", now());
    for (int to = 1; to <= kHosts; ++to) {
      if (to == from) continue;
      const int spine = (from + to) % 2;
      const int leaves[2] = {(from + 1) / 2, (to + 1) / 2};
      TracedPath path;
      path.probe = "udp";
      path.source = test::ip(address(from));
      path.destination = test::ip(address(to));
      path.end = PathEnd::kReached;
      path.hops.push_back({test::ip(fmt::format("10.3.0.{}", from)), 1});
      if (leaves[0] != leaves[1]) {
        path.hops.push_back({test::ip(fmt::format("10.2.{}.{}", leaves[0], spine)), 1});
        path.hops.push_back({test::ip(fmt::format("10.1.{}.{}", leaves[1], spine)), 1});
      }
      board_.publishPath(std::move(path), true);
    }
  }
  std::vector<BurstBoard::Asked> asked;
  EXPECT_TRUE(test::eventually([&] {
    windows(1, [](int from, int to) {
      return from <= 2 && to > 2 && (from + to) % 2 == 0 ? kOneLost : well(from, to);
    });
    asked = bursts_.takeAsked();
    return !asked.empty();
  }));
  for (const auto& each : asked) EXPECT_TRUE(registry_.isElsewhere(each.order.source));
}

TEST_F(VerdictsTest, ASlowHostIsNamedAndForgiven) {
  windows(8, well);
  EXPECT_THAT(board_.verdict()->open, IsEmpty());
  EXPECT_EQ(board_.verdict()->judged_pairs, 30U);
  windows(5, thirdSlow);
  ASSERT_THAT(board_.verdict()->open, SizeIs(1));
  const Incident& incident = *board_.verdict()->open[0];
  EXPECT_EQ(incident.culprit, (Culprit{CulpritKind::kHost, "10.0.0.3"}));
  EXPECT_EQ(incident.severity, Severity::kVerySlow);
  EXPECT_EQ(incident.bad_pairs, 10U);
  EXPECT_THAT(incident.sentence, HasSubstr("10.0.0.3's network side is very slow: network 8 ms"));
  const auto snapshot = board_.source(0, 0, 1);
  EXPECT_EQ(snapshot->severityOf(2), Severity::kVerySlow);
  EXPECT_EQ(snapshot->severityOf(1), Severity::kOk);
  windows(9, well);
  EXPECT_THAT(board_.verdict()->open, IsEmpty());
  ASSERT_THAT(board_.verdict()->recent, SizeIs(1));
  EXPECT_NE(board_.verdict()->recent[0]->closed_utc, 0);
}

TEST_F(VerdictsTest, WhatIsRestoredIsPublishedAtOnce) {
  windows(8, well);
  windows(5, thirdSlow);
  Board board;
  Verdicts next(grid_, registry_, board, orders_, bursts_);
  next.restore(verdicts_.takeRecords(), now());
  ASSERT_THAT(board.verdict()->open, SizeIs(1));
  EXPECT_EQ(board.verdict()->open[0]->id, board_.verdict()->open[0]->id);
}

TEST_F(VerdictsTest, AFollowerShowsWhatTheLeaderHasWrittenAndGoesOnWithIt) {
  windows(8, well);
  windows(5, thirdSlow);
  const auto written = verdicts_.takeRecords();
  const std::uint64_t id = board_.verdict()->open.at(0)->id;
  verdicts_.follow({}, now());
  windows(3, thirdSlow);
  EXPECT_THAT(board_.verdict()->open, IsEmpty()) << "it draws no conclusions";
  EXPECT_THAT(verdicts_.takeRecords(), IsEmpty());
  EXPECT_THAT(order(AcknowledgeOrder{id, Acknowledgement{"me", "", 0}}).get<std::string>(),
              HasSubstr("only the leader takes orders"));
  EXPECT_EQ(verdicts_.nextDue(), kNever);
  verdicts_.follow(written, now());
  verdicts_.run(now());
  ASSERT_THAT(board_.verdict()->open, SizeIs(1));
  EXPECT_EQ(board_.verdict()->open[0]->id, id);

  verdicts_.lead(written, now());
  windows(1, thirdSlow);
  ASSERT_THAT(board_.verdict()->open, SizeIs(1));
  EXPECT_EQ(board_.verdict()->open[0]->id, id);
  EXPECT_TRUE(order(AcknowledgeOrder{id, Acknowledgement{"me", "", 0}}).is_object());
  verdicts_.stopLeading();
  verdicts_.resumeLeading();
  ASSERT_THAT(board_.verdict()->open, SizeIs(1));
  EXPECT_TRUE(board_.verdict()->open[0]->acknowledged.has_value());
}

TEST_F(VerdictsTest, WhatASilentAgentsHostLosesWaits) {
  const auto third_loses = [](int from, int to) {
    return from == 3 || to == 3 ? std::uint64_t{0} : well(from, to);
  };
  windows(8, well);
  silent_ = 3;
  windows(4, third_loses);
  EXPECT_THAT(board_.verdict()->open, IsEmpty());
  silent_ = 0;
  windows(1, third_loses);
  ASSERT_THAT(board_.verdict()->open, SizeIs(1)) << "its agent is there";
  EXPECT_EQ(board_.verdict()->open[0]->culprit.kind, CulpritKind::kHost);
}

TEST_F(VerdictsTest, WhatASilentAgentAnswersSlowlyDoesNotWait) {
  windows(8, well);
  silent_ = 3;
  windows(4, thirdSlow);
  ASSERT_THAT(board_.verdict()->open, SizeIs(1));
  EXPECT_EQ(board_.verdict()->open[0]->culprit.kind, CulpritKind::kHost);
}

TEST_F(VerdictsTest, WhatIsLeftOfAFaultWhileItIsForgivenAccusesNobody) {
  const auto two_slow = [](int from, int to) {
    const bool bad = (from <= 2) != (to <= 2);
    return bad ? 8'000'000 : well(from, to);
  };
  // The fault ends within this window, and some pairs do not see it any more.
  const auto last = [&](int from, int to) {
    return from == 5 || to == 5 ? two_slow(from, to) : well(from, to);
  };
  windows(8, well);
  windows(5, two_slow);
  EXPECT_THAT(board_.verdict()->open, SizeIs(2));
  windows(1, last);
  windows(12, well);
  EXPECT_THAT(board_.verdict()->open, IsEmpty());
  std::set<std::string> accused;
  for (const auto& incident : board_.verdict()->recent) accused.insert(incident->culprit.name);
  EXPECT_THAT(accused, ElementsAre("10.0.0.1", "10.0.0.2"));
}

TEST_F(VerdictsTest, NonsenseOfOneAgentAccusesNobodyElse) {
  windows(8, well);
  const auto nonsense = [](int from, int to) {
    return from == 2 ? std::uint64_t{4'000'000'000} : well(from, to);
  };
  windows(6, nonsense);
  ASSERT_THAT(board_.verdict()->open, SizeIs(1));
  const Incident& incident = *board_.verdict()->open[0];
  EXPECT_EQ(incident.culprit, (Culprit{CulpritKind::kHostSend, "10.0.0.2"}));
  for (const Evidence& line : incident.evidence) EXPECT_EQ(line.source.text(), "10.0.0.2");
  const auto about_one = [](int from, int to) {
    return from == 2 && to == 5 ? std::uint64_t{4'000'000'000} : well(from, to);
  };
  windows(12, well);
  EXPECT_THAT(board_.verdict()->open, IsEmpty());
  windows(6, about_one);
  ASSERT_THAT(board_.verdict()->open, SizeIs(1));
  EXPECT_EQ(board_.verdict()->open[0]->culprit,
            (Culprit{CulpritKind::kPair, "10.0.0.2 -> 10.0.0.5"}));
}

TEST_F(VerdictsTest, AnIncidentCarriesTheErrorsThatItsHostCounted) {
  windows(8, well);
  for (const auto& [id, agent] : registry_.agents()) {
    // Every host's port counts errors, and only those of the accused one are evidence.
    const CounterId symbols = counterNamed(CounterOrigin::kPort, "symbol_error_total").value();
    HostCounters counters;
    counters.since_utc = kStart;
    counters.ports = {{"mlx5_0", 1, {{symbols, 1211, {{utc_, utc_, 1000 + id}}}}}};
    agent->info.counters = std::make_shared<const HostCounters>(std::move(counters));
  }
  windows(5, thirdSlow);
  ASSERT_THAT(board_.verdict()->open, SizeIs(1));
  const Incident& incident = *board_.verdict()->open[0];
  ASSERT_THAT(incident.counters, SizeIs(1));
  EXPECT_EQ(incident.counters[0].host, "10.0.0.3");
  EXPECT_EQ(incident.counters[0].moved, 1003U);
  EXPECT_THAT(incident.sentence,
              HasSubstr(", and port mlx5_0/1: symbol_error +1,003 in the same minute"));
}

TEST_F(VerdictsTest, OneSlowWindowIsNothing) {
  windows(8, well);
  windows(1, thirdSlow);
  windows(3, well);
  windows(1, thirdSlow);
  windows(8, well);
  EXPECT_THAT(board_.verdict()->open, IsEmpty());
  EXPECT_THAT(board_.verdict()->recent, IsEmpty());
}

TEST_F(VerdictsTest, AHostInMaintenanceIsNotJudged) {
  BeginMaintenanceOrder begin;
  begin.maintenance.host = "10.0.0.3";
  begin.maintenance.until_utc = kNever;
  EXPECT_EQ(order(begin)["host"], "10.0.0.3");
  windows(10, thirdSlow);
  EXPECT_THAT(board_.verdict()->open, IsEmpty());
  EXPECT_EQ(board_.verdict()->judged_pairs, 20U);
  EXPECT_THAT(board_.verdict()->maintenance, SizeIs(1));
  EXPECT_EQ(board_.source(0, 0, 1)->severityOf(2), Severity::kNone);
  EXPECT_EQ(order(EndMaintenanceOrder{"10.0.0.3"}), nlohmann::json::object());
  windows(6, thirdSlow);
  EXPECT_THAT(board_.verdict()->open, SizeIs(1));
  begin.maintenance.host = "nobody";
  EXPECT_THAT(order(begin).get<std::string>(), HasSubstr("'nobody'"));
}

TEST_F(VerdictsTest, ThePinglistTakesHostsOutOfJudgement) {
  const auto parsed = pinglist::parse(
      "version: 1\ndefaults: { window: 1s, interval: 100ms }\n"
      "hosts: { gpu-3: { address: 10.0.0.3, maintenance: true } }\n"
      "probes: [{ name: udp, protocol: udp, mesh: ['10.0.0.[1-6]'] }]\n",
      "p.yaml");
  ASSERT_TRUE(parsed) << parsed.error().text();
  grid_.setPlan(makeGridPlan(std::make_shared<pinglist::Pinglist>(*parsed), 2), now());
  verdicts_.setPlan(grid_.sharedPlan(), now());
  windows(10, thirdSlow);
  EXPECT_THAT(board_.verdict()->open, IsEmpty());
  ASSERT_THAT(board_.verdict()->maintenance, SizeIs(1));
  EXPECT_EQ(board_.verdict()->maintenance[0].host, "gpu-3");
  EXPECT_TRUE(board_.verdict()->maintenance[0].in_pinglist);
  EXPECT_THAT(order(EndMaintenanceOrder{"gpu-3"}).get<std::string>(), HasSubstr("by hand"));
}

TEST_F(VerdictsTest, OrdersAreCarriedOut) {
  windows(6, thirdSlow);
  ASSERT_THAT(board_.verdict()->open, SizeIs(1));
  EXPECT_EQ(order(AcknowledgeOrder{1, Acknowledgement{"ann", "", 0}})["acknowledged"]["by"], "ann");
  AddSilenceOrder add;
  add.silence.matchers = {{"culprit", "10.0.0.3"}};
  add.silence.until_utc = utc_ + kHour;
  const std::string id = order(add)["id"];
  EXPECT_EQ(std::to_string(board_.verdict()->open[0]->silenced_by), id);
  EXPECT_EQ(order(RemoveSilenceOrder{std::stoull(id)}), nlohmann::json::object());
  EXPECT_EQ(board_.verdict()->open[0]->silenced_by, 0U);
  EXPECT_THAT(order(AcknowledgeOrder{77, std::nullopt}).get<std::string>(),
              HasSubstr("incident 77: is not open"));
}

TEST_F(VerdictsTest, AnAgentThatIsGoneIsOneIncidentOfItsHost) {
  windows(6, well);
  registry_.goodbye(*registry_.find("host-4"));
  grid_.presenceChanged(registry_.takeChanged());
  for (int i = 0; i < 14; ++i) {
    utc_ += 500 * kMillisecond;
    grid_.runDue(now());
    verdicts_.run(now());
  }
  ASSERT_THAT(board_.verdict()->open, SizeIs(1));
  EXPECT_EQ(board_.verdict()->open[0]->culprit, (Culprit{CulpritKind::kAgent, "10.0.0.4"}));
}

TEST_F(VerdictsTest, AnEndedBoardRefusesOrders) {
  std::string refused;
  ASSERT_TRUE(orders_.ask(EndMaintenanceOrder{"x"}, [&refused](const OrderAnswer& answer) {
    refused = answer ? "" : answer.error().text();
  }));
  orders_.stop();
  EXPECT_THAT(refused, HasSubstr("shutting down"));
  EXPECT_FALSE(orders_.ask(EndMaintenanceOrder{"x"}, [](const OrderAnswer&) {}));
}

}  // namespace
}  // namespace pingloom::controller::verdicts_test
