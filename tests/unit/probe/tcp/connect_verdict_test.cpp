#include "probe/tcp/connect_verdict.h"

#include <gtest/gtest.h>

namespace pingloom::probe::tcp::connect_verdict_test {
namespace {

constexpr Nanos kMs = kMillisecond;
constexpr Nanos kTimeout = 500 * kMs;
using Stage = ConnectStage;
using Verdict = ConnectVerdict;

ConnectState connected(Nanos kernel_rtt, bool retransmitted = false, Nanos since_reply = 0) {
  return {Stage::kConnected, kernel_rtt, since_reply, retransmitted};
}

TEST(ConnectVerdict, Table) {
  const struct {
    const char* what;
    ConnectState state;
    Nanos elapsed;
    bool stalled;
    Verdict verdict;
  } cases[] = {
      {"in time", connected(kMs), 2 * kMs, false, Verdict::kReceived},
      {"at the timeout", connected(kMs), kTimeout, false, Verdict::kReceived},
      {"a stall touched it", connected(kMs), 40 * kMs, true, Verdict::kStalled},
      {"found late, came in time", connected(kMs), kTimeout + 1, false, Verdict::kStalled},
      {"found late after a stall", connected(kMs), kSecond, true, Verdict::kStalled},
      {"came late", connected(kTimeout + kMs), kTimeout + kMs, false, Verdict::kLostLate},
      {"came late, whatever stalled", connected(600 * kMs), kSecond, true, Verdict::kLostLate},
      {"second SYN, found late", connected(kMs, true, 700 * kMs), kSecond, true, Verdict::kStalled},
      {"second SYN, came late", connected(kMs, true, 0), kSecond, false, Verdict::kLostLate},
      {"under way", {Stage::kConnecting}, kTimeout - 1, false, Verdict::kNone},
      {"under way in a stall", {Stage::kConnecting}, kTimeout - 1, true, Verdict::kNone},
      {"no answer", {Stage::kConnecting}, kTimeout, false, Verdict::kLost},
      {"no answer, but stalled", {Stage::kConnecting}, kTimeout, true, Verdict::kUndecided},
      {"kernel gave up", {Stage::kTimedOut}, kMs, false, Verdict::kLost},
      {"refused", {Stage::kRefused}, kMs, false, Verdict::kRefused},
      {"unreachable", {Stage::kUnreachable}, kMs, false, Verdict::kUnreachable},
  };
  for (const auto& each : cases) {
    EXPECT_EQ(verdictOf(each.state, each.elapsed, kTimeout, each.stalled), each.verdict)
        << each.what;
  }
}

TEST(ConnectVerdict, CountsEachVerdictOnce) {
  for (const Verdict verdict : {Verdict::kReceived, Verdict::kStalled, Verdict::kLost,
                                Verdict::kLostLate, Verdict::kRefused, Verdict::kUnreachable}) {
    PairWindow pair;
    countConnect(pair, verdict, connected(kMs), 2 * kMs);
    EXPECT_EQ(pair.received + pair.lost + pair.refused + pair.unreachable, 1U);
    EXPECT_EQ(pair.network.count(), verdict == Verdict::kReceived ? 1U : 0U);
    EXPECT_EQ(pair.rtt.count(), verdict == Verdict::kReceived ? 1U : 0U);
    EXPECT_EQ(pair.late, verdict == Verdict::kLostLate ? 1U : 0U);
  }
}

TEST(ConnectVerdict, TimesThatCannotBeTrueStayOut) {
  const auto anomaly = [](const PairWindow& pair, Anomaly reason) {
    return pair.anomalous[static_cast<std::size_t>(reason)];
  };
  PairWindow pair;
  countConnect(pair, Verdict::kStalled, connected(kMs), 90 * kMs);
  EXPECT_EQ(anomaly(pair, Anomaly::kStalled), 1U);
  countConnect(pair, Verdict::kReceived, connected(kMs, true), kSecond);
  EXPECT_EQ(anomaly(pair, Anomaly::kNoTimestamp), 1U) << "a repeated SYN: coarse";
  countConnect(pair, Verdict::kReceived, connected(0), kMs);
  EXPECT_EQ(anomaly(pair, Anomaly::kNoTimestamp), 2U);
  EXPECT_EQ(pair.rtt.count(), 2U) << "the connect time is known";
  countConnect(pair, Verdict::kReceived, connected(3 * kMs), 2 * kMs);
  EXPECT_EQ(anomaly(pair, Anomaly::kNegative), 1U);
  EXPECT_EQ(pair.network.count(), 0U);
  EXPECT_EQ(pair.received, 4U);
}

}  // namespace
}  // namespace pingloom::probe::tcp::connect_verdict_test
