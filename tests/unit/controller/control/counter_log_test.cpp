#include "controller/control/counter_log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "wire/nic_counter_codec.h"

namespace pingloom::controller::counter_log_test {
namespace {

using testing::IsEmpty;
using testing::SizeIs;

class CounterLogTest : public testing::Test {
 protected:
  static constexpr Nanos kUtc = 1'795'230'720 * kSecond;  // the start of a minute
  Instant now() const { return {kHour + passed_, kUtc + passed_}; }
  std::optional<Refusal> tell(std::uint64_t symbols, bool complete = false) {
    const CounterId id = counterNamed(CounterOrigin::kPort, "symbol_error_total").value();
    wire::AgentStatus status;
    wire::encode(NicUpdate{complete, {{"mlx5_0", 1, {{id, symbols}}}}}, *status.mutable_counters());
    return log_.take(agent_, status, now());
  }
  CounterLogTest() { agent_.info.host = "gpu-3"; }

  Nanos passed_ = 0;
  Agent agent_;
  CounterLog log_;
};

TEST_F(CounterLogTest, GathersAMinuteIntoARecord) {
  EXPECT_FALSE(tell(7, true));
  passed_ = kSecond;
  tell(9);
  passed_ = 30 * kSecond;
  tell(12);
  EXPECT_THAT(log_.takeEnded(now().utc), IsEmpty()) << "the minute has not ended";
  passed_ = 61 * kSecond;
  tell(13);
  const auto ended = log_.takeEnded(now().utc);
  ASSERT_THAT(ended, SizeIs(1));
  EXPECT_EQ(ended[0].host, "gpu-3");
  EXPECT_EQ(ended[0].minute_utc, kUtc);
  EXPECT_EQ(ended[0].total, 12U);
  EXPECT_EQ(ended[0].moved, 5U);
  EXPECT_THAT(log_.takeEnded(now().utc), IsEmpty());
  tell(14);
  passed_ = 121 * kSecond;
  EXPECT_THAT(log_.takeEnded(now().utc, 0), IsEmpty());
  EXPECT_THAT(log_.takeEnded(now().utc, 1), SizeIs(1)) << "what found no room comes later";
  tell(15);
  EXPECT_THAT(log_.takeAll(), SizeIs(1)) << "the controller ends";
  EXPECT_EQ(log_.dropped(), 0U);
}

TEST_F(CounterLogTest, NobodyKnowsWhenSomethingMovedInALongSilence) {
  tell(7, true);
  passed_ = CounterLog::kLongestGap + 1;
  tell(9, true);
  EXPECT_EQ(agent_.info.counters->ports[0].counters[0].total, 9U);
  EXPECT_THAT(log_.takeAll(), IsEmpty());
  // Heartbeats in which nothing moved are no silence.
  for (int second = 0; second < 300; ++second) {
    passed_ += kSecond;
    log_.take(agent_, {}, now());
  }
  tell(10);
  EXPECT_THAT(log_.takeAll(), SizeIs(1));
}

TEST_F(CounterLogTest, RefusesNonsenseAndKeepsWhatWasKnown) {
  tell(7, true);
  wire::AgentStatus status;
  status.mutable_counters()->set_complete(true);
  status.mutable_counters()->add_ports();  // without a device
  const auto refused = log_.take(agent_, status, now());
  ASSERT_TRUE(refused);
  EXPECT_EQ(refused->reason, wire::Refused::BAD_MESSAGE);
  EXPECT_EQ(agent_.info.counters->ports[0].counters[0].total, 7U);
}

}  // namespace
}  // namespace pingloom::controller::counter_log_test
