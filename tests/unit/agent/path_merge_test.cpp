#include "agent/path_merge.h"

#include <gtest/gtest.h>

#include <random>

namespace pingloom::agent::path_merge_test {
namespace {

std::shared_ptr<const plan::Assignment> assignmentOf(std::uint32_t paths) {
  auto made = std::make_shared<plan::Assignment>();
  made->probe.name = "rail";
  made->probe.protocol = Protocol::kRdma;
  made->probe.paths = paths;
  made->destinations = {IpAddress::fromV4(1), IpAddress::fromV4(2)};
  return made;
}

probe::ClosedWindow windowOf(const std::shared_ptr<const plan::Assignment>& assignment,
                             std::uint64_t index, std::uint32_t path) {
  probe::ClosedWindow window;
  window.assignment = assignment;
  window.index = index;
  window.path = path;
  window.clock = ClockSource::kHardware;
  window.device = "mlx5_0";
  window.pairs.resize(assignment->destinations.size());
  return window;
}

std::vector<std::uint32_t> pathsOf(const std::vector<probe::ClosedWindow>& windows) {
  std::vector<std::uint32_t> paths;
  for (const auto& window : windows) paths.push_back(window.path);
  return paths;
}

class PathMergeTest : public testing::Test {
 protected:
  probe::WindowQueue queue_;
  PathMerge merge_{queue_};
  std::shared_ptr<const plan::Assignment> three_ = assignmentOf(3);
};

TEST_F(PathMergeTest, PercentilesAreThoseOfAllSamples) {
  std::mt19937_64 random(5);
  Distribution all;
  probe::PairWindow sum;
  for (std::uint32_t path = 1; path <= 3; ++path) {
    auto window = windowOf(three_, 7, path);
    probe::PairWindow& pair = window.pairs[1];
    for (std::uint32_t i = 0; i < 10 * path; ++i) {
      const std::uint64_t network = 1000 * path * path + random() % 500;
      pair.addNetwork(static_cast<Nanos>(network));
      all.add(network);
    }
    pair.rtt.add(path);
    pair.received = 10 * path;
    pair.lost = path;
    pair.anomalous[2] = 1;
    pair.ack_lost = path;
    pair.duplicate = 2;
    pair.late = 3;
    pair.sent = pair.received + pair.lost;
    sum.jitter_sum += pair.jitter_sum;
    merge_.add(std::move(window), 0);
  }
  auto made = merge_.take(0);
  ASSERT_EQ(pathsOf(made), (std::vector<std::uint32_t>{0, 1, 2, 3})) << "the merge comes first";
  const probe::ClosedWindow& merged = made[0];
  EXPECT_EQ(merged.index, 7U);
  EXPECT_EQ(merged.assignment, three_);
  EXPECT_EQ(merged.clock, ClockSource::kHardware);
  EXPECT_EQ(merged.device, "mlx5_0");
  EXPECT_EQ(merged.pairs[0].sent, 0U);
  const probe::PairWindow& pair = merged.pairs[1];
  EXPECT_EQ(pair.received, 60U);
  EXPECT_EQ(pair.lost, 6U);
  EXPECT_EQ(pair.sent, 66U);
  EXPECT_EQ(pair.ack_lost, 6U);
  EXPECT_EQ(pair.duplicate, 6U);
  EXPECT_EQ(pair.late, 9U);
  EXPECT_EQ(pair.anomalous[2], 3U);
  EXPECT_EQ(pair.rtt.count(), 3U);
  EXPECT_EQ(pair.jitter_count, 9U + 19U + 29U) << "never between paths";
  EXPECT_EQ(pair.jitter_sum, sum.jitter_sum);
  EXPECT_EQ(pair.network.summary().p50, all.summary().p50);
  EXPECT_EQ(pair.network.summary().p99, all.summary().p99);
  EXPECT_EQ(pair.network.summary().mean, all.summary().mean);
}

TEST_F(PathMergeTest, AWindowWaitsForItsOthersHoweverTheyCome) {
  merge_.add(windowOf(three_, 7, 3), 0);
  merge_.add(windowOf(three_, 8, 1), 0);
  merge_.add(windowOf(three_, 7, 1), 0);
  EXPECT_TRUE(merge_.take(0).empty());
  EXPECT_EQ(merge_.due(), PathMerge::kMaxWait);
  merge_.add(windowOf(three_, 7, 2), kSecond);
  const auto made = merge_.take(kSecond);
  EXPECT_EQ(pathsOf(made), (std::vector<std::uint32_t>{0, 1, 2, 3}));
  EXPECT_EQ(made[0].index, 7U);
  EXPECT_TRUE(merge_.take(PathMerge::kMaxWait - 1).empty());
  EXPECT_EQ(pathsOf(merge_.take(PathMerge::kMaxWait)), (std::vector<std::uint32_t>{0, 1}))
      << "the others did not come";
  EXPECT_EQ(merge_.due(), kNever);
  EXPECT_TRUE(merge_.take(kNever).empty());
}

TEST_F(PathMergeTest, SinglePathsPassAndSourcesStayApart) {
  merge_.add(windowOf(assignmentOf(1), 7, 0), 0);
  EXPECT_EQ(pathsOf(merge_.take(0)), (std::vector<std::uint32_t>{0}));
  const auto two = assignmentOf(2);
  const auto other = assignmentOf(2);
  merge_.add(windowOf(two, 7, 1), 0);
  merge_.add(windowOf(other, 7, 2), 0);
  EXPECT_TRUE(merge_.take(0).empty());
  merge_.add(windowOf(two, 7, 2), 0);
  merge_.add(windowOf(other, 7, 1), 0);
  EXPECT_EQ(pathsOf(merge_.take(0)), (std::vector<std::uint32_t>{0, 1, 2, 0, 1, 2}));
}

TEST_F(PathMergeTest, TimesOfAnotherClockAreLeftOut) {
  const auto two = assignmentOf(2);
  for (std::uint32_t path = 1; path <= 2; ++path) {
    auto window = windowOf(two, 7, path);
    if (path == 2) window.clock = ClockSource::kSoftware;
    window.pairs[0].sent = window.pairs[0].received = 1;
    window.pairs[0].addNetwork(1000 * path);
    merge_.add(std::move(window), 0);
  }
  const auto made = merge_.take(0);
  EXPECT_EQ(made[0].pairs[0].sent, 2U);
  EXPECT_EQ(made[0].pairs[0].network.count(), 1U);
  EXPECT_EQ(made[0].pairs[0].network.max(), 1000U);
}

}  // namespace
}  // namespace pingloom::agent::path_merge_test
