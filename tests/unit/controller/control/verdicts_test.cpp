#include "controller/control/verdicts.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <nlohmann/json.hpp>

#include "controller/model/grid_plan.h"
#include "unit/controller/support.h"

namespace pingloom::controller::verdicts_test {
namespace {

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

  // The window that ended a second ago, in which only network times differ.
  wire::Report report(int from, const std::function<std::uint64_t(int, int)>& network) const {
    std::vector<wire::Row> rows;
    for (int to = 1; to <= kHosts; ++to) {
      if (to == from) continue;
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
          registry_.heard(agent->route, now());
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
  Registry registry_;
  Board board_;
  Grid grid_{registry_, board_};
  OrderBoard orders_;
  Verdicts verdicts_{grid_, registry_, board_, orders_};
  ReportView view_;
};

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
