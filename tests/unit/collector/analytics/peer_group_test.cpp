#include "collector/analytics/peer_group.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <memory>
#include <random>
#include <vector>

namespace pingloom::collector::analytics::peer_group_test {
namespace {

constexpr std::size_t kMetrics = 4;
constexpr std::uint32_t kRelearnAfter = 600;

// Replicas that share a load, each with noise of 5 % of its own.
class Replicas {
 public:
  explicit Replicas(std::size_t count, const PeerSettings& settings = {})
      : settings_(settings), slower_(count, 1), group_(kMetrics) {
    for (std::size_t i = 0; i < count; ++i) add();
  }
  void add() {
    slower_.resize(replicas_.size() + 1, 1);
    replicas_.push_back(std::make_unique<Replica>(kMetrics, settings_));
  }
  void step() {
    load_ = 0.99 * load_ + 0.1 * normal_(random_);
    std::vector<Replica*> all;
    for (std::size_t i = 0; i < replicas_.size(); ++i) {
      const double level = 100 * std::exp(0.2 * load_);
      // A latency, a rate, a constant and a number that is 0 on average.
      const std::vector<double> sample = {level * slower_[i] * (1 + 0.05 * normal_(random_)),
                                          level * (1 + 0.05 * normal_(random_)), constant_[i % 2],
                                          normal_(random_)};
      replicas_[i]->observe(sample);
      all.push_back(replicas_[i].get());
    }
    group_.judge(all, kRelearnAfter);
    for (const auto& replica : replicas_) alarms_ += began(*replica) ? 1 : 0;
  }
  void steps(int count) {
    for (int i = 0; i < count; ++i) step();
  }
  // Steps until a replica is anomalous; returns the steps, or `most`.
  int stepsUntilAnomalous(std::size_t replica, int most) {
    int steps = 0;
    while (steps < most && !verdict(replica).anomalous) {
      step();
      ++steps;
    }
    return steps;
  }
  void slowDown(std::size_t replica, double factor) { slower_[replica] = factor; }
  void set(std::size_t replica, const PeerSettings& settings) { replicas_[replica]->set(settings); }
  const PeerVerdict& verdict(std::size_t replica) const { return replicas_[replica]->verdict(); }
  int alarms() const { return alarms_; }

 private:
  static bool began(const Replica& replica) {
    return replica.verdict().changed && replica.verdict().anomalous;
  }
  PeerSettings settings_;
  std::vector<double> slower_;
  std::array<double, 2> constant_ = {5, 7};
  PeerGroup group_;
  std::vector<std::unique_ptr<Replica>> replicas_;
  std::mt19937 random_{7};
  std::normal_distribution<double> normal_;
  double load_ = 0;
  int alarms_ = 0;
};

TEST(PeerGroup, equalReplicasAreNoAnomaly) {
  Replicas replicas(16);
  replicas.steps(3600);
  EXPECT_EQ(replicas.alarms(), 0);
  EXPECT_TRUE(replicas.verdict(0).judged);
}

TEST(PeerGroup, aSlowReplicaIsNamedWithItsPeers) {
  Replicas replicas(16);
  replicas.steps(600);
  replicas.slowDown(3, 1.3);
  EXPECT_LT(replicas.stepsUntilAnomalous(3, 150), 150);
  const PeerVerdict& verdict = replicas.verdict(3);
  EXPECT_GT(verdict.score, 1);
  ASSERT_GE(verdict.top_count, 1U);
  EXPECT_EQ(verdict.top[0].metric, 0U);
  EXPECT_GT(verdict.top[0].score, 1);
  EXPECT_GT(verdict.top[0].value, 1.1 * verdict.top[0].peers);
  EXPECT_EQ(replicas.alarms(), 1);
  replicas.slowDown(3, 1);
  replicas.steps(150);
  EXPECT_FALSE(replicas.verdict(3).anomalous);
}

TEST(PeerGroup, aReplicaThatWasAlwaysSlowIsFound) {
  Replicas replicas(16);
  replicas.slowDown(5, 1.3);
  EXPECT_LT(replicas.stepsUntilAnomalous(5, 150), 150);
}

TEST(PeerGroup, aTooLowValueHasANegativeScore) {
  Replicas replicas(16);
  replicas.slowDown(5, 0.5);
  EXPECT_LT(replicas.stepsUntilAnomalous(5, 150), 150);
  EXPECT_LT(replicas.verdict(5).top[0].score, -1);
}

TEST(PeerGroup, aLastingDifferenceBecomesUsual) {
  Replicas replicas(16);
  replicas.slowDown(5, 1.5);
  replicas.steps(3 * kRelearnAfter);
  EXPECT_FALSE(replicas.verdict(5).anomalous);
  EXPECT_EQ(replicas.alarms(), 1);
}

TEST(PeerGroup, aRoleOfManyReplicasIsNoAnomaly) {
  Replicas replicas(16);
  for (std::size_t i = 0; i < 5; ++i) replicas.slowDown(i, 1.5);
  replicas.steps(1200);
  EXPECT_EQ(replicas.alarms(), 0);
}

TEST(PeerGroup, aReplicaThatJoinsIsJudgedAtOnce) {
  Replicas replicas(16);
  replicas.steps(600);
  replicas.add();
  replicas.slowDown(16, 1.4);
  EXPECT_LT(replicas.stepsUntilAnomalous(16, 150), 150);
}

// Replicas with six latencies. The noise of each replica has `own` of its own in each latency, and
// `common` in all of them, which lasts for minutes.
class Latencies {
 public:
  Latencies(double own, double common) : own_(own), common_(common) {
    for (std::size_t i = 0; i < kReplicas; ++i) replicas_.push_back(std::make_unique<Replica>(6));
  }
  void step() {
    std::vector<Replica*> all;
    for (std::size_t i = 0; i < kReplicas; ++i) {
      lasting_[i] = 0.995 * lasting_[i] + 0.1 * normal_(random_);
      std::vector<double> sample(6);
      for (double& value : sample) {
        const double noise = own_ * normal_(random_) + common_ * lasting_[i];
        value = (i == 3 ? slower_ : 1) * (1 + noise);
      }
      replicas_[i]->observe(sample);
      all.push_back(replicas_[i].get());
    }
    group_.judge(all, kRelearnAfter);
    for (const auto& replica : replicas_) {
      alarms_ += replica->verdict().changed && replica->verdict().anomalous ? 1 : 0;
    }
  }
  void slowDown(double factor) { slower_ = factor; }
  const PeerVerdict& verdict() const { return replicas_[3]->verdict(); }
  int alarms() const { return alarms_; }

 private:
  static constexpr std::size_t kReplicas = 32;
  double own_;
  double common_;
  double slower_ = 1;
  int alarms_ = 0;
  PeerGroup group_{6};
  std::vector<std::unique_ptr<Replica>> replicas_;
  std::array<double, kReplicas> lasting_{};
  std::mt19937 random_{7};
  std::normal_distribution<double> normal_;
};

TEST(PeerGroup, latenciesThatAreAllALittleOffAreAnAnomaly) {
  Latencies latencies(0.4, 0);
  for (int i = 0; i < 1200; ++i) latencies.step();
  EXPECT_EQ(latencies.alarms(), 0);
  latencies.slowDown(1.25);
  int steps = 0;
  while (steps < 150 && !latencies.verdict().anomalous) {
    latencies.step();
    ++steps;
  }
  EXPECT_LT(steps, 150);
  EXPECT_LT(latencies.verdict().top[0].score, 1) << "no latency alone shows it";
  EXPECT_GT(latencies.verdict().score, 1);
}

TEST(PeerGroup, latenciesThatAreAlwaysOffTogetherAreNoAnomaly) {
  Latencies latencies(0.02, 0.05);
  for (int i = 0; i < 7200; ++i) latencies.step();
  EXPECT_EQ(latencies.alarms(), 0);
}

TEST(PeerGroup, tooFewReplicasAreNotJudged) {
  Replicas replicas(PeerSettings::kMinReplicas - 1);
  replicas.slowDown(0, 3);
  replicas.steps(300);
  EXPECT_FALSE(replicas.verdict(0).judged);
  EXPECT_EQ(replicas.alarms(), 0);
}

TEST(PeerGroup, aDifferenceBelowARaisedLimitIsNoAnomaly) {
  PeerSettings settings;
  settings.limit = 40;
  Replicas replicas(16, settings);
  replicas.steps(600);
  replicas.slowDown(3, 1.3);
  replicas.steps(300);
  EXPECT_EQ(replicas.alarms(), 0);
  EXPECT_TRUE(replicas.verdict(3).judged);
  replicas.slowDown(3, 3);
  EXPECT_LT(replicas.stepsUntilAnomalous(3, 150), 150) << "a larger one is";
}

TEST(PeerGroup, eachReplicaIsJudgedByItsOwnLimit) {
  PeerSettings lenient;
  lenient.limit = 40;
  Replicas replicas(16);
  replicas.set(3, lenient);
  replicas.slowDown(3, 1.4);
  replicas.slowDown(5, 1.4);
  EXPECT_LT(replicas.stepsUntilAnomalous(5, 150), 150);
  replicas.steps(150);
  EXPECT_FALSE(replicas.verdict(3).anomalous);
  EXPECT_EQ(replicas.alarms(), 1);
}

TEST(PeerGroup, anAnomalyEndsByNewSettingsThatAllowIt) {
  Replicas replicas(16);
  replicas.slowDown(3, 1.4);
  ASSERT_LT(replicas.stepsUntilAnomalous(3, 150), 150);
  replicas.set(3, {});
  replicas.step();
  EXPECT_TRUE(replicas.verdict(3).anomalous) << "the same settings change nothing";
  PeerSettings lenient;
  lenient.limit = 40;
  replicas.set(3, lenient);
  replicas.step();
  EXPECT_FALSE(replicas.verdict(3).anomalous);
  EXPECT_TRUE(replicas.verdict(3).changed);
  replicas.steps(100);
  EXPECT_FALSE(replicas.verdict(3).anomalous);
  replicas.set(3, {});
  EXPECT_LT(replicas.stepsUntilAnomalous(3, 10), 10) << "nothing has to be learned again";
}

TEST(PeerGroup, anAnomalyEndsWhereALongerMemoryHasNotSeenEnough) {
  Replicas replicas(16);
  replicas.slowDown(3, 1.4);
  ASSERT_LT(replicas.stepsUntilAnomalous(3, 150), 150);
  PeerSettings longer;
  longer.memory = 3000;
  replicas.set(3, longer);
  replicas.step();
  EXPECT_FALSE(replicas.verdict(3).judged);
  EXPECT_FALSE(replicas.verdict(3).anomalous);
}

TEST(PeerGroup, moreSamplesHaveToBeUnusualIfTheSettingsSaySo) {
  PeerSettings slow;
  slow.hysteresis = {.raise = 64, .window = 64};
  Replicas quick(16), patient(16, slow);
  for (Replicas* replicas : {&quick, &patient}) {
    replicas->steps(600);
    replicas->slowDown(3, 2);
  }
  const int sooner = quick.stepsUntilAnomalous(3, 300);
  EXPECT_EQ(patient.stepsUntilAnomalous(3, 300), sooner + 59);
}

TEST(PeerGroup, aLongerMemoryNeedsMoreSamples) {
  PeerSettings settings;
  settings.memory = 300;
  Replicas replicas(16, settings);
  replicas.steps(299);
  EXPECT_FALSE(replicas.verdict(3).judged);
  replicas.steps(101);
  EXPECT_TRUE(replicas.verdict(3).judged);
  replicas.slowDown(3, 1.5);
  replicas.steps(40);
  EXPECT_EQ(replicas.alarms(), 0) << "of 300 samples they are few";
  EXPECT_LT(replicas.stepsUntilAnomalous(3, 300), 300);
}

TEST(PeerGroup, moreReplicasMayBeRequired) {
  PeerSettings settings;
  settings.replicas = 17;
  Replicas replicas(16, settings);
  replicas.slowDown(3, 3);
  replicas.steps(300);
  EXPECT_FALSE(replicas.verdict(3).judged);
  EXPECT_EQ(replicas.alarms(), 0);
  replicas.add();
  EXPECT_LT(replicas.stepsUntilAnomalous(3, 150), 150);
}

// As few replicas as are judged, with one metric.
struct Few {
  // A round in which each replica has its value by its number, which scatters by 1 %.
  template <typename Value>
  void step(const Value& value) {
    for (std::size_t i = 0; i < replicas.size(); ++i) {
      replicas[i].observe(std::vector<double>{value(i) * (1 + 0.01 * normal(random))});
    }
    judge();
  }
  void judge() { group.judge(compared, kRelearnAfter); }

  Few() {
    for (Replica& replica : replicas) compared.push_back(&replica);
  }
  std::vector<Replica> replicas = std::vector<Replica>(PeerSettings::kMinReplicas, Replica(1));
  std::vector<Replica*> compared;
  PeerGroup group{1};
  std::mt19937 random{5};
  std::normal_distribution<double> normal;
};
double doubleOfTheFirst(std::size_t number) { return number == 0 ? 200 : 100; }

TEST(PeerGroup, anAnomalyEndsWhenTooFewAreLeft) {
  Few few;
  for (int i = 0; i < 300; ++i) few.step(doubleOfTheFirst);
  ASSERT_TRUE(few.replicas[0].verdict().anomalous);
  few.compared.pop_back();
  few.judge();
  EXPECT_FALSE(few.replicas[0].verdict().anomalous);
  EXPECT_TRUE(few.replicas[0].verdict().changed);
  few.judge();
  EXPECT_FALSE(few.replicas[0].verdict().changed);
}

TEST(PeerGroup, hugeValuesPoisonNothing) {
  Few few;
  for (int i = 0; i < 3; ++i) few.step([](std::size_t) { return 1e300; });
  for (int i = 0; i < 200; ++i) few.step([](std::size_t) { return 100.0; });
  for (int i = 0; i < 200; ++i) few.step(doubleOfTheFirst);
  EXPECT_TRUE(few.replicas[0].verdict().anomalous);
}

TEST(PeerGroup, missingValuesChangeNothing) {
  Replica replica(1);
  const std::vector<Replica*> all(PeerSettings::kMinReplicas, &replica);
  PeerGroup group(1);
  const std::vector<double> none = {std::numeric_limits<double>::quiet_NaN()};
  const std::vector<double> wild = {std::numeric_limits<double>::infinity()};
  for (int i = 0; i < 100; ++i) {
    replica.observe(i % 2 == 0 ? none : wild);
    group.judge(all, kRelearnAfter);
  }
  EXPECT_EQ(replica.verdict().score, 0);
}

}  // namespace
}  // namespace pingloom::collector::analytics::peer_group_test
