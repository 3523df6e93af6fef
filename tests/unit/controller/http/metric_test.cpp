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
    const MetricValue value = metric->of(RowPacker().pack(row));
    ASSERT_TRUE(value.measured()) << name;
    if (name == "jitter") {
      EXPECT_EQ(value.number(), 77);
    } else if (metric->isRatio()) {
      EXPECT_EQ(metric->unit(), "ratio");
      EXPECT_EQ(value.number(), name == "loss" ? 0.25 : 0.5);
    } else {
      EXPECT_EQ(metric->unit(), "ns");
      EXPECT_EQ(value.part, expected) << name;
      expected += expected % 10 == 6 ? 5 : 1;
    }
  }
}

TEST(Metric, WhatWasNotMeasuredIsNone) {
  Row lost;
  lost.sent = lost.lost = 8;
  RowPacker packer;
  for (const std::string& name : Metric::names()) {
    const auto metric = Metric::parse(name);
    EXPECT_FALSE(metric->of({}).measured()) << name;
    EXPECT_EQ(metric->of(packer.pack(lost)).measured(), name == "loss") << name;
  }
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
