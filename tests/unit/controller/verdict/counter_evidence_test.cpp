#include "controller/verdict/counter_evidence.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace pingloom::controller::counter_evidence_test {
namespace {

using testing::IsEmpty;
using testing::SizeIs;

constexpr Nanos kNow = 1'795'230'720 * kSecond + 30 * kSecond;  // half a minute into a minute

HostCounter counter(const char* name, std::vector<CounterMove> moves) {
  return {counterNamed(CounterOrigin::kPort, name).value(), 5000, std::move(moves)};
}
CounterMove move(Nanos ago, std::uint64_t moved) { return {kNow - ago, kNow - ago, moved}; }

std::vector<MovedCounter> movedOf(std::vector<HostCounter> counters, Nanos known = kHour) {
  HostCounters host;
  host.since_utc = kNow - known;
  host.ports = {{"mlx5_0", 1, std::move(counters)}};
  std::vector<MovedCounter> moved;
  appendMoved("gpu-3", host, kNow, moved);
  rankMoved(moved);
  return moved;
}

TEST(CounterEvidence, AnErrorThatMovedLatelyBelongsToIt) {
  const auto moved = movedOf(
      {counter("symbol_error_total", {move(10 * kMinute, 3), move(kMinute, 1200), move(0, 4)}),
       counter("link_downed_total", {move(10 * kMinute, 1)}), counter("vl15_dropped_total", {})});
  ASSERT_THAT(moved, SizeIs(1));
  EXPECT_EQ(moved[0].counter, "symbol_error_total");
  EXPECT_EQ(moved[0].moved, 1204U);
  EXPECT_EQ(moved[0].since_utc, kNow - kMinute);
  EXPECT_EQ(clauseOf(moved, kNow), ", and port mlx5_0/1: symbol_error +1,204 in the same minute");
  EXPECT_EQ(clauseOf(moved, kNow + 10 * kMinute),
            ", and port mlx5_0/1: symbol_error +1,204 since 2026-11-21T03:11:30Z");
}

TEST(CounterEvidence, LoadHasToBeUnusual) {
  std::vector<CounterMove> steady;
  for (int minute = 14; minute >= 0; --minute) steady.push_back(move(minute * kMinute, 1000));
  EXPECT_THAT(movedOf({counter("np_cnp_packets_sent_total", steady)}), IsEmpty());
  steady.back().moved = 100'000;
  EXPECT_THAT(movedOf({counter("np_cnp_packets_sent_total", steady)}), SizeIs(1));
  EXPECT_THAT(movedOf({counter("np_cnp_packets_sent_total", {move(0, 1)})}), SizeIs(1))
      << "it never moved before";
  EXPECT_THAT(movedOf({counter("np_cnp_packets_sent_total", {move(0, 1)})}, 4 * kMinute), IsEmpty())
      << "nobody knows what is usual";
}

TEST(CounterEvidence, NamesErrorsFirstAndCountsTheRest) {
  std::vector<HostCounter> many;
  for (const char* name : {"symbol_error_total", "link_error_recovery_total", "link_downed_total",
                           "port_errors_received_total"}) {
    many.push_back(counter(name, {move(0, many.size() + 1)}));
  }
  many.push_back(counter("np_cnp_packets_sent_total", {move(0, 1'000'000)}));
  EXPECT_EQ(clauseOf(movedOf(many), kNow),
            ", and port mlx5_0/1: port_errors_received +4, link_downed +3, link_error_recovery +2 "
            "in the same minute (2 more moved)");
  EXPECT_EQ(clauseOf({}, kNow), "");
}

TEST(CounterEvidence, ThePortsOfAPairsTwoHostsAreToldApart) {
  std::vector<MovedCounter> moved = movedOf({counter("symbol_error_total", {move(0, 5)})});
  moved.push_back(moved.front());
  moved.back().host = "gpu-4";
  moved.back().port = 0;
  moved.back().device = "eth0";
  EXPECT_EQ(clauseOf(moved, kNow),
            ", and port mlx5_0/1 of gpu-3: symbol_error +5, interface eth0 "
            "of gpu-4: symbol_error +5 in the same minute");
}

}  // namespace
}  // namespace pingloom::controller::counter_evidence_test
