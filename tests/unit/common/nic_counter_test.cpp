#include "common/nic_counter.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

namespace pingloom::nic_counter_test {
namespace {

CounterId id(std::string_view name) { return counterNamed(CounterOrigin::kPort, name).value(); }

TEST(WatchedCounters, AreFoundByOriginAndName) {
  std::set<std::pair<CounterOrigin, std::string_view>> names;
  for (CounterId at = 0; at < watchedCounters().size(); ++at) {
    const WatchedCounter& counter = watchedCounters()[at];
    EXPECT_TRUE(names.emplace(counter.origin, counter.name).second) << counter.name;
    EXPECT_EQ(counterNamed(counter.origin, counter.name), at) << counter.name;
  }
  EXPECT_TRUE(counterNamed(CounterOrigin::kEthtool, "rx_prio7_pause"));
  EXPECT_FALSE(counterNamed(CounterOrigin::kEthtool, "rx_prio8_pause"));
  EXPECT_FALSE(counterNamed(CounterOrigin::kPort, "rx_prio7_pause")) << "ethtool has it";
  EXPECT_FALSE(counterNamed(CounterOrigin::kPort, "port_data_received_bytes_total")) << "traffic";
  EXPECT_FALSE(counterNamed(CounterOrigin::kPort, ""));
}

TEST(CounterIncrease, KnowsGrowthWrapAndReset) {
  EXPECT_EQ(counterIncrease(5, 5), 0U);
  EXPECT_EQ(counterIncrease(5, 12), 7U);
  EXPECT_EQ(counterIncrease(0xffff'fffa, 10), 16U) << "32 bits wrapped";
  EXPECT_EQ(counterIncrease(1000, 3), 3U) << "a reset";
  EXPECT_EQ(counterIncrease(0xffff'fffa, 0xc000'0000), 0xc000'0000U) << "too far for a wrap";
  EXPECT_EQ(counterIncrease(0x1'0000'0000, 3), 3U) << "a counter of 64 bits that was reset";
  EXPECT_EQ(counterIncrease(0, UINT64_MAX), UINT64_MAX);
}

TEST(UpdateBetween, TellsWhatMovedAndEverythingAfterAChangeOfDevices) {
  const NicPorts before = {
      {"eth0", 0, {{counterNamed(CounterOrigin::kInterface, "receive_errs_total").value(), 0}}},
      {"mlx5_0", 1, {{id("symbol_error_total"), 7}, {id("link_downed_total"), 1}}}};
  EXPECT_FALSE(updateBetween(before, before));
  NicPorts after = before;
  after[1].counters[0].value = 9;
  EXPECT_EQ(updateBetween(before, after),
            (NicUpdate{false, {{"mlx5_0", 1, {{id("symbol_error_total"), 9}}}}}));
  after[1].counters.pop_back();
  EXPECT_EQ(updateBetween(before, after), (NicUpdate{true, after})) << "a counter has gone";
  after.pop_back();
  EXPECT_EQ(updateBetween(before, after), (NicUpdate{true, after})) << "a port has gone";
  EXPECT_EQ(updateBetween(before, {}), (NicUpdate{true, {}}));
}

}  // namespace
}  // namespace pingloom::nic_counter_test
