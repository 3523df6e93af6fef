#include "agent/report.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "control.pb.h"
#include "wire/distribution_codec.h"

namespace pingloom::agent::report_test {
namespace {

std::shared_ptr<const plan::Assignment> assignmentTo(std::uint32_t destinations) {
  auto made = std::make_shared<plan::Assignment>();
  made->probe.name = "rack-r1";
  made->probe.protocol = Protocol::kUdp;
  made->probe.window = 10 * kSecond;
  made->source = *IpAddress::parse("10.0.0.1");
  for (std::uint32_t i = 0; i < destinations; ++i) {
    made->destinations.push_back(IpAddress::fromV4(0x0a010000 + i));
  }
  return made;
}

probe::ClosedWindow windowOf(std::uint32_t destinations, std::uint64_t index) {
  probe::ClosedWindow window;
  window.assignment = assignmentTo(destinations);
  window.index = index;
  window.clock = ClockSource::kKernel;
  window.device = "eth0";
  window.pairs.resize(destinations);
  return window;
}

std::vector<wire::Batch> encode(const std::vector<probe::ClosedWindow>& windows) {
  std::vector<wire::Batch> batches;
  BatchEncoder encoder([&](std::string_view reports) {
    const std::string bytes = serializeBatch({3, batches.size() + 1}, reports);
    EXPECT_LT(bytes.size(), 2 * BatchEncoder::kTargetBytes + 4096);
    EXPECT_TRUE(batches.emplace_back().ParseFromString(bytes));
  });
  for (const auto& window : windows) encoder.add(window);
  encoder.finish();
  return batches;
}

TEST(Report, CountsAndIdentitySurvive) {
  auto window = windowOf(3, 12345);
  window.path = 2;
  probe::PairWindow& pair = window.pairs[1];
  pair.sent = 10;
  pair.received = 6;
  pair.lost = 1;
  pair.refused = 2;
  pair.unreachable = 1;
  pair.ack_lost = 3;
  pair.duplicate = 4;
  pair.late = 5;
  pair.anomalous = {1, 0, 2, 0};
  for (const Nanos value : {900, 1000, 1300}) pair.addNetwork(value);
  pair.rtt.add(5000);
  const auto batches = encode({window});
  ASSERT_EQ(batches.size(), 1U);
  EXPECT_EQ(batches[0].incarnation(), 3U);
  EXPECT_EQ(batches[0].sequence(), 1U);
  ASSERT_EQ(batches[0].reports_size(), 1);
  const wire::Report& report = batches[0].reports(0);
  EXPECT_EQ(report.probe(), "rack-r1");
  EXPECT_EQ(IpAddress::fromWire(report.source())->text(), "10.0.0.1");
  EXPECT_EQ(report.protocol(), wire::UDP);
  EXPECT_EQ(report.window_index(), 12345U);
  EXPECT_EQ(report.path(), 2U);
  EXPECT_EQ(report.window_ns(), 10 * kSecond);
  EXPECT_EQ(report.clock(), 2U);
  EXPECT_EQ(report.device(), "eth0");
  ASSERT_EQ(report.rows_size(), 1) << "pairs without counts are left out";
  const wire::Row& row = report.rows(0);
  EXPECT_EQ(IpAddress::fromWire(row.destination())->text(), "10.1.0.1");
  EXPECT_EQ(row.sent(), row.received() + row.lost() + row.refused() + row.unreachable());
  EXPECT_EQ(row.sent(), 10U);
  EXPECT_EQ(row.received(), 6U);
  EXPECT_EQ(row.ack_lost(), 3U);
  EXPECT_EQ(row.duplicate(), 4U);
  EXPECT_EQ(row.late(), 5U);
  ASSERT_EQ(row.anomalous_size(), 4);
  EXPECT_EQ(row.anomalous(2), 2U);
  EXPECT_EQ(row.jitter_ns(), 200U) << "(100 + 300) / 2";
  EXPECT_FALSE(row.has_responder()) << "not measured is absent";
  EXPECT_EQ(wire::decode(viewOf(row.rtt()))->max(), 5000U);
}

TEST(Report, PercentilesSurviveWithFewAndWithManySamples) {
  std::mt19937_64 random(3);
  for (const std::size_t samples : {10U, 64U, 65U, 5000U}) {
    auto window = windowOf(1, 1);
    probe::PairWindow& pair = window.pairs[0];
    pair.sent = pair.received = static_cast<std::uint32_t>(samples);
    for (std::size_t i = 0; i < samples; ++i) {
      pair.network.add(1000 + random() % 100000);
      pair.prober.add(random() % 1000);
      pair.responder.add(random() % 50000);
      pair.rtt.add(random() % 10'000'000'000);
    }
    const auto batches = encode({window});
    const wire::Row& row = batches.at(0).reports(0).rows(0);
    const auto same = [](const Distribution& before, const wire::SampleSet& set) {
      const Summary a = before.summary();
      const Summary b = wire::decode(viewOf(set))->summary();
      EXPECT_EQ(a.count, b.count);
      EXPECT_EQ(a.min, b.min);
      EXPECT_EQ(a.mean, b.mean);
      EXPECT_EQ(a.p50, b.p50);
      EXPECT_EQ(a.p95, b.p95);
      EXPECT_EQ(a.p99, b.p99);
      EXPECT_EQ(a.max, b.max);
    };
    same(pair.network, row.network());
    same(pair.prober, row.prober());
    same(pair.responder, row.responder());
    same(pair.rtt, row.rtt());
  }
}

TEST(Report, WindowsWithoutAnyCountMakeNoBatch) {
  EXPECT_TRUE(encode({windowOf(5, 1), windowOf(0, 2)}).empty());
}

TEST(Report, SeveralWindowsShareABatchAndLargeOnesAreSplit) {
  std::vector<probe::ClosedWindow> windows;
  std::uint64_t sent = 0;
  for (std::uint64_t index = 0; index < 4; ++index) {
    windows.push_back(windowOf(8000, index));
    for (std::size_t i = 0; i < 8000; ++i) {
      probe::PairWindow& pair = windows.back().pairs[i];
      pair.sent = pair.received = 20;
      for (int n = 0; n < 20; ++n) {
        pair.network.add(1'000'000 * static_cast<std::uint64_t>(n + 1));
        pair.rtt.add(2'000'000 * static_cast<std::uint64_t>(n + 1));
      }
      sent += 20;
    }
  }
  windows.push_back(windowOf(1, 9));
  windows.back().pairs[0].sent = 1;
  const auto batches = encode(windows);
  EXPECT_GT(batches.size(), 1U);
  std::uint64_t arrived = 0;
  std::vector<std::uint64_t> indexes;
  for (const auto& batch : batches) {
    for (const auto& report : batch.reports()) {
      indexes.push_back(report.window_index());
      for (const auto& row : report.rows()) arrived += row.sent();
    }
  }
  EXPECT_EQ(arrived, sent + 1);
  EXPECT_TRUE(std::is_sorted(indexes.begin(), indexes.end()));
  EXPECT_EQ(indexes.back(), 9U);
}

}  // namespace
}  // namespace pingloom::agent::report_test
