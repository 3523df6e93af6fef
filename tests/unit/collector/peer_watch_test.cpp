#include "collector/watch/peer_watch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <random>

namespace pingloom::collector::peer_watch_test {
namespace {

// An application with a histogram of step times, in microseconds.
class Trainer {
 public:
  Trainer(std::string application, std::string metric, unsigned seed, pages::Labels labels = {})
      : random_(seed) {
    auto info = std::make_shared<PageInfo>();
    info->generation = seed;
    info->schema_version = 1;
    info->application = std::move(application);
    const auto slots = static_cast<std::uint16_t>(pingloom_histogram_slots(kShape));
    info->schema.push_back({PINGLOOM_HISTOGRAM, false, 0, slots, kShape, 1e-6, std::move(metric),
                            "", std::move(labels)});
    info->slots = slots;
    view_.info = info;
    view_.state = PageState::kFresh;
    view_.slots = slots;
    view_.values.assign(slots, 0);
  }
  // A second with 30 steps of about so many microseconds.
  PagesOfOwner next(double step) {
    for (int i = 0; i < 30; ++i) {
      const auto value = static_cast<std::uint64_t>(step * std::exp(0.2 * normal_(random_)));
      view_.values[0] += value;
      ++view_.values[1 + pingloom_histogram_bucket(kShape, value)];
    }
    view_.read += kSecond;
    return {&view_};
  }
  PagesOfOwner pages() const { return {&view_}; }

 private:
  static constexpr pingloom_histogram_shape kShape{10, 24, 2};
  PageView view_;
  std::mt19937 random_;
  std::normal_distribution<double> normal_;
};

class Trainers {
 public:
  explicit Trainers(std::size_t count) {
    for (unsigned i = 0; i < count; ++i) add("trainer", "step_seconds");
  }
  void add(const std::string& application, const std::string& metric,
           const pages::Labels& labels = {}) {
    trainers_.emplace_back(application, metric, static_cast<unsigned>(trainers_.size()) + 1,
                           labels);
    watches_.push_back(OwnerWatch::make(trainers_.back().pages(), {}));
  }
  void compareWith(const analytics::PeerSettings& settings) {
    for (const auto& watch : watches_) watch->compareWith(settings);
  }
  void compareBy(const std::string& label) {
    for (const auto& watch : watches_) watch->compareBy(label);
  }
  // A second in which the last trainer is `slower` times as slow as the others.
  void step(double slower) {
    std::vector<WatchEvent> none;
    for (std::size_t i = 0; i < trainers_.size(); ++i) {
      const bool last = i + 1 == trainers_.size();
      watches_[i]->observe(trainers_[i].next(100'000 * (last ? slower : 1)), none);
      peers_.add(*watches_[i], 3600);
    }
    peers_.judge();
    for (const auto& watch : watches_) watch->comparePeers(events_);
  }
  const std::vector<WatchEvent>& events() const { return events_; }
  const OwnerWatch& last() const { return *watches_.back(); }

 private:
  std::vector<Trainer> trainers_;
  std::vector<std::unique_ptr<OwnerWatch>> watches_;
  PeerWatch peers_;
  std::vector<WatchEvent> events_;
};

TEST(PeerWatch, aSlowReplicaIsExplainedByItsPeers) {
  Trainers trainers(8);
  for (int i = 0; i < 120; ++i) trainers.step(1);
  EXPECT_THAT(trainers.events(), testing::IsEmpty());
  for (int i = 0; i < 150 && trainers.events().empty(); ++i) trainers.step(1.3);
  ASSERT_EQ(trainers.events().size(), 1U);
  const WatchEvent& event = trainers.events()[0];
  EXPECT_EQ(event.kind, "anomaly");
  EXPECT_TRUE(event.began);
  EXPECT_EQ(event.statistic, "peers");
  EXPECT_EQ(event.application, "trainer");
  ASSERT_FALSE(event.deviations.empty());
  const Deviation& most = event.deviations[0];
  EXPECT_EQ(most.metric, "step_seconds");
  EXPECT_EQ(event.metric, "step_seconds " + std::string(most.part));
  EXPECT_GT(most.score, 1);
  ASSERT_TRUE(most.peers);
  EXPECT_GT(most.value, 1.1 * *most.peers);
  EXPECT_TRUE(trainers.last().anomalous());
  EXPECT_EQ(trainers.last().deviations().size(), event.deviations.size());
}

TEST(PeerWatch, peersThatAreSwitchedOffAreNotCompared) {
  Trainers trainers(8);
  trainers.compareWith({.enabled = false});
  for (int i = 0; i < 250; ++i) trainers.step(3);
  EXPECT_THAT(trainers.events(), testing::IsEmpty());
  trainers.compareWith({});
  for (int i = 0; i < 150; ++i) trainers.step(3);
  ASSERT_EQ(trainers.events().size(), 1U);
  trainers.compareWith({.enabled = false});
  trainers.step(3);
  ASSERT_EQ(trainers.events().size(), 2U);
  EXPECT_FALSE(trainers.events()[1].began) << "an anomaly ends then";
  EXPECT_FALSE(trainers.last().anomalous());
}

TEST(PeerWatch, anotherApplicationIsNoPeer) {
  Trainers trainers(8);
  trainers.add("evaluator", "step_seconds");
  for (int i = 0; i < 120; ++i) trainers.step(3);
  EXPECT_THAT(trainers.events(), testing::IsEmpty());
  EXPECT_FALSE(trainers.last().anomalous());
}

TEST(PeerWatch, aLabelMakesApplicationsPeers) {
  Trainers trainers(0);
  for (int i = 0; i < 9; ++i) {
    trainers.add("trainer-" + std::to_string(i), "step_seconds", {{"job", "big"}});
  }
  for (int i = 0; i < 120; ++i) trainers.step(1.5);
  EXPECT_THAT(trainers.events(), testing::IsEmpty()) << "each is an application of its own";
  trainers.compareBy("queue");
  for (int i = 0; i < 120; ++i) trainers.step(1.5);
  EXPECT_THAT(trainers.events(), testing::IsEmpty()) << "none of them has this label";
  trainers.compareBy("job");
  for (int i = 0; i < 250; ++i) trainers.step(1.5);
  ASSERT_FALSE(trainers.events().empty());
  EXPECT_EQ(trainers.events()[0].statistic, "peers");
  EXPECT_EQ(trainers.events()[0].application, "trainer-8");
}

TEST(PeerWatch, applicationsWithAnotherValueOfTheLabelAreNoPeers) {
  Trainers trainers(0);
  for (int i = 0; i < 8; ++i) trainers.add("trainer", "step_seconds", {{"job", "big"}});
  trainers.add("trainer", "step_seconds", {{"job", "small"}});
  trainers.compareBy("job");
  for (int i = 0; i < 250; ++i) trainers.step(3);
  EXPECT_THAT(trainers.events(), testing::IsEmpty());
}

TEST(PeerWatch, otherMetricsAreNoPeers) {
  Trainers trainers(8);
  trainers.add("trainer", "batch_seconds");
  for (int i = 0; i < 120; ++i) trainers.step(3);
  EXPECT_THAT(trainers.events(), testing::IsEmpty());
}

// Bucket by bucket these values raised anomalies within minutes, and while the errors of quantiles
// were not known, within hours.
TEST(OwnerWatch, aStationaryHistogramIsNoAnomaly) {
  Trainer trainer("trainer", "step_seconds", 1);
  const auto watch = OwnerWatch::make(trainer.pages(), {});
  std::vector<WatchEvent> events;
  for (int i = 0; i < 12 * 3600; ++i) watch->observe(trainer.next(100'000), events);
  EXPECT_THAT(events, testing::IsEmpty());
  EXPECT_EQ(watch->state(), analytics::GroupState::kQuiet);
}

}  // namespace
}  // namespace pingloom::collector::peer_watch_test
