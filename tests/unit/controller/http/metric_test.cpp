#include "controller/http/metric.h"

#include <gmock/gmock.h>

#include "unit/controller/http/small_board.h"

namespace pingloom::controller::metric_test {
namespace {

TEST(Metric, EveryNameParsesAndFindsItsFigure) {
  Row row;
  row.sent = 8;
  row.received = 4;
  row.lost = 2;
  row.anomalous = {1, 0, 0, 1};
  row.jitter_ns = 77;
  row.network = {1, 11, 12, 13, 14, 15, 16};
  row.responder = {1, 21, 22, 23, 24, 25, 26};
  row.prober = {1, 31, 32, 33, 34, 35, 36};
  row.rtt = {1, 41, 42, 43, 44, 45, 46};
  std::uint64_t expected = 11;
  for (const std::string& name : Metric::names()) {
    const auto metric = Metric::parse(name);
    ASSERT_TRUE(metric) << name;
    if (name == "jitter") {
      EXPECT_EQ(metric->nanosecondsOf(row), 77U);
    } else if (metric->isRatio()) {
      EXPECT_EQ(metric->unit(), "ratio");
      EXPECT_EQ(metric->ratioOf(row), name == "loss" ? 0.25 : 0.5);
    } else {
      EXPECT_EQ(metric->unit(), "ns");
      EXPECT_EQ(metric->nanosecondsOf(row), expected) << name;
      expected += expected % 10 == 6 ? 5 : 1;
    }
  }
}

TEST(Metric, WhatWasNotMeasuredIsNone) {
  const Row row;
  EXPECT_EQ(Metric::parse("network_p50")->nanosecondsOf(row), std::nullopt);
  EXPECT_EQ(Metric::parse("jitter")->nanosecondsOf(row), std::nullopt);
  EXPECT_EQ(Metric::parse("loss")->ratioOf(row), std::nullopt);
  EXPECT_EQ(Metric::parse("anomalous")->ratioOf(row), std::nullopt);
}

TEST(Metric, NumbersAreWrittenAsTheyAre) {
  const auto metric = Metric::parse("rtt_max");
  std::vector<std::uint64_t> numbers = {0, UINT64_MAX};
  for (std::uint64_t power = 1; power <= UINT64_MAX / 10; power *= 10) {
    numbers.insert(numbers.end(), {power - 1, power, power + 1, 9 * power, 12345678901 % power});
  }
  for (const std::uint64_t number : numbers) {
    std::array<char, Metric::kMaxDigits> digits{};
    const auto size = metric->write(digits.data(), {number, 1}) - digits.data();
    EXPECT_EQ(std::string(digits.data(), static_cast<std::size_t>(size)), std::to_string(number));
  }
}

TEST(Metric, UnknownNames) {
  for (const char* name : {"", "_", "network", "network_", "_p50", "network_p50_", "jitters"}) {
    EXPECT_FALSE(Metric::parse(name)) << name;
  }
}

}  // namespace
}  // namespace pingloom::controller::metric_test
