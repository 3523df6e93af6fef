#include "collector/analytics/subspace_detector.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "allocations.h"
#include "curves.h"

namespace {

using namespace pingloom::collector::analytics;

constexpr std::size_t kMetrics = 8;
constexpr std::size_t kConstant = 7;  // this one never changes
const double kNone = std::nan("");
constexpr int kSoon = 20;  // samples within which a large deviation is an anomaly

// Metrics in different units that follow one load.
class Group {
 public:
  std::vector<double> next() {
    const double load = normal_(random_);
    std::vector<double> sample(kMetrics);
    for (std::size_t i = 0; i < kConstant; ++i) {
      sample[i] = (100 + 10 * load + 2 * normal_(random_)) * std::pow(10.0, static_cast<double>(i));
    }
    return sample;
  }

 private:
  std::mt19937_64 random_{7};
  std::normal_distribution<double> normal_;
};

struct SubspaceDetectorTest : testing::Test {
  SubspaceDetectorTest() { settings.relearn_after = 400; }

  static double deviation(std::size_t metric) { return 10.2 * std::pow(10.0, metric); }
  // The last verdict of so many samples to which a metric has been added something.
  SubspaceVerdict feed(int samples, std::size_t metric = 0, double added = 0) {
    SubspaceVerdict last;
    for (int i = 0; i < samples; ++i) {
      auto sample = group.next();
      sample[metric] += added;
      last = detector.observe(sample);
    }
    return last;
  }
  // Returns the verdict with which an anomaly begins; the last one if there is none within kSoon.
  SubspaceVerdict raisedBy(std::size_t metric, double added) {
    SubspaceVerdict last;
    for (int i = 0; i < kSoon && last.state != GroupState::kAnomalous; ++i) {
      last = feed(1, metric, added);
    }
    return last;
  }
  void warmUp() { ASSERT_EQ(feed(static_cast<int>(settings.warm_up)).state, GroupState::kQuiet); }

  SubspaceSettings settings;
  Group group;
  SubspaceDetector detector{kMetrics, settings};
};

TEST_F(SubspaceDetectorTest, GivesNoVerdictDuringTheWarmUp) {
  for (std::uint32_t i = 0; i + 1 < settings.warm_up; ++i) {
    const auto verdict = feed(1);
    ASSERT_EQ(verdict.state, GroupState::kLearning);
    ASSERT_FALSE(verdict.judged);
  }
  EXPECT_EQ(detector.judged(), 0U);
  EXPECT_EQ(feed(1).state, GroupState::kQuiet);
  EXPECT_TRUE(feed(1).judged);
}

TEST_F(SubspaceDetectorTest, NamesTheMetricThatIsOff) {
  warmUp();
  const auto verdict = raisedBy(3, 8 * deviation(3));
  EXPECT_EQ(verdict.state, GroupState::kAnomalous);
  EXPECT_GT(verdict.score, 1);
  ASSERT_EQ(verdict.top_count, SubspaceVerdict::kTop);
  EXPECT_EQ(verdict.top[0].slot, 3U);
  EXPECT_GT(verdict.top[0].score, 0);
  for (std::size_t i = 1; i < verdict.top_count; ++i) {
    EXPECT_LE(std::abs(verdict.top[i].score), std::abs(verdict.top[i - 1].score));
  }
  feed(3000);
  const auto below = raisedBy(3, -8 * deviation(3));
  EXPECT_EQ(below.state, GroupState::kAnomalous);
  EXPECT_EQ(below.top[0].slot, 3U);
  EXPECT_LT(below.top[0].score, 0);
}

TEST_F(SubspaceDetectorTest, MoreLoadForAllIsNoAnomaly) {
  warmUp();
  for (int i = 0; i < 20; ++i) {
    auto sample = group.next();
    for (std::size_t m = 0; m < kConstant; ++m) sample[m] += 4 * deviation(m);
    EXPECT_NE(detector.observe(sample).state, GroupState::kAnomalous);
  }
}

TEST_F(SubspaceDetectorTest, AMetricALittleOffForLongIsNamed) {
  warmUp();
  feed(4000);  // a young detector takes a small change for what it has yet to learn
  SubspaceVerdict raised;
  for (int i = 0; i < 300 && raised.state != GroupState::kAnomalous; ++i) {
    raised = feed(1, 3, 0.6 * deviation(3));
  }
  ASSERT_EQ(raised.state, GroupState::kAnomalous);
  EXPECT_NE(raised.statistic, Statistic::kPeak);
  EXPECT_EQ(raised.top[0].slot, 3U);
}

TEST_F(SubspaceDetectorTest, ADifferenceBelowTheLeastIsNotUnusual) {
  warmUp();
  feed(4000);
  const auto anomalous = [&](double share) {
    std::vector<double> least(kMetrics);
    for (std::size_t i = 0; i < kMetrics; ++i) least[i] = share * deviation(i);
    bool found = false;
    for (int i = 0; i < 300; ++i) {
      auto sample = group.next();
      sample[3] += 0.6 * deviation(3);
      found |= detector.observe(sample, least).state == GroupState::kAnomalous;
    }
    return found;
  };
  EXPECT_FALSE(anomalous(1.2));
  EXPECT_TRUE(anomalous(0.1));
}

// Within the metric's range: no threshold on it would notice.
TEST_F(SubspaceDetectorTest, MetricThatNoLongerGoesWithTheOthersIsAnAnomaly) {
  warmUp();
  feed(2000);  // young limits are high
  bool anomalous = false;
  Group another;
  for (int i = 0; i < 5; ++i) another.next();
  for (int i = 0; i < 60; ++i) {
    auto sample = group.next();
    sample[2] = another.next()[2];
    anomalous |= detector.observe(sample).state == GroupState::kAnomalous;
  }
  EXPECT_TRUE(anomalous);
}

TEST_F(SubspaceDetectorTest, AConstantThatMovesIsNoAnomaly) {
  warmUp();
  EXPECT_EQ(feed(6, kConstant, 1).state, GroupState::kQuiet);
  feed(100);
  EXPECT_EQ(feed(1, kConstant, 1e6).state, GroupState::kQuiet);
  EXPECT_EQ(detector.anomalies(), 0U);
}

TEST_F(SubspaceDetectorTest, AConstantThatBeginsToMoveIsLearnedWhileTheOthersAreJudged) {
  warmUp();
  std::mt19937 random(1);
  std::normal_distribution<double> normal;
  for (int i = 0; i < 3000; ++i) feed(1, kConstant, normal(random));
  EXPECT_EQ(detector.anomalies(), 0U);
  EXPECT_EQ(feed(kSoon, 3, 8 * deviation(3)).state, GroupState::kAnomalous);
}

TEST_F(SubspaceDetectorTest, AMetricThatStopsIsFlat) {
  warmUp();
  SubspaceVerdict last;
  const double stuck = group.next()[2];
  for (int i = 0; i < 40; ++i) {
    auto sample = group.next();
    sample[2] = stuck;
    last = detector.observe(sample);
  }
  EXPECT_EQ(last.state, GroupState::kAnomalous);
  EXPECT_EQ(last.top[0].slot, 2U);
}

TEST_F(SubspaceDetectorTest, NoiseThatGrowsWithTheLoadIsNoAnomaly) {
  std::mt19937 random(4);
  std::normal_distribution<double> normal;
  for (int i = 0; i < 8000; ++i) {
    // The load stays for a while, as loads do.
    const double load = 0.6 + 0.4 * std::sin(i / 300.0);
    std::vector<double> sample(kMetrics);
    for (std::size_t m = 0; m < kMetrics; ++m) {
      sample[m] = 10 + load + 0.2 * load * load * load * normal(random);
    }
    detector.observe(sample);
  }
  EXPECT_LE(detector.anomalies(), 1U);
}

TEST_F(SubspaceDetectorTest, OneSampleIsNoAnomaly) {
  warmUp();
  const auto verdict = feed(1, 3, 20 * deviation(3));
  EXPECT_GT(verdict.score, 1);
  EXPECT_EQ(verdict.state, GroupState::kQuiet);
}

TEST_F(SubspaceDetectorTest, ChangesAreToldOnceAndCounted) {
  warmUp();
  int raised = 0;
  int cleared = 0;
  const auto count = [&](const SubspaceVerdict& verdict) {
    if (!verdict.changed) return;
    (verdict.state == GroupState::kAnomalous ? raised : cleared) += 1;
  };
  for (int i = 0; i < 50; ++i) count(feed(1, 1, 8 * deviation(1)));
  for (int i = 0; i < 200; ++i) count(feed(1));
  EXPECT_EQ(raised, 1);
  EXPECT_EQ(cleared, 1);
  EXPECT_EQ(detector.anomalies(), 1U);
}

TEST_F(SubspaceDetectorTest, AnIncidentDoesNotTeachItself) {
  warmUp();
  feed(4000);
  feed(250, 3, 8 * deviation(3));
  EXPECT_EQ(detector.latest().state, GroupState::kAnomalous);
  feed(300);
  EXPECT_EQ(detector.latest().state, GroupState::kQuiet);
  EXPECT_EQ(feed(kSoon, 3, 8 * deviation(3)).state, GroupState::kAnomalous);
}

TEST_F(SubspaceDetectorTest, WhatLastsIsLearnedAnew) {
  detector = SubspaceDetector(kMetrics, settings);
  warmUp();
  const auto last = feed(410, 3, 8 * deviation(3));
  EXPECT_EQ(last.state, GroupState::kLearning);
  EXPECT_EQ(detector.relearned(), 1U);
  EXPECT_EQ(feed(static_cast<int>(settings.warm_up), 3, 8 * deviation(3)).state,
            GroupState::kQuiet);
}

TEST_F(SubspaceDetectorTest, WhatIsNotANumberSkipsTheSampleAndPoisonsNothing) {
  const double infinity = std::numeric_limits<double>::infinity();
  for (std::uint32_t i = 0; i < settings.warm_up; ++i) {
    feed(1);
    for (const double bad : {kNone, infinity, -infinity, 1e308}) feed(1, i % kMetrics, bad);
  }
  EXPECT_EQ(detector.skipped(), 4U * settings.warm_up);
  EXPECT_EQ(detector.latest().state, GroupState::kQuiet);
  const auto verdict = feed(3);
  EXPECT_TRUE(verdict.judged);
  EXPECT_TRUE(std::isfinite(verdict.score));
  EXPECT_LT(verdict.score, 1);
  EXPECT_EQ(feed(kSoon, 3, 8 * deviation(3)).state, GroupState::kAnomalous);
}

TEST_F(SubspaceDetectorTest, HugeValuesInTheWarmUpDoNotBlind) {
  for (std::uint32_t i = 0; i < settings.warm_up; ++i) feed(1, 3, i == 100 ? 1e90 : 0);
  EXPECT_EQ(feed(kSoon, 3, 8 * deviation(3)).state, GroupState::kAnomalous);
}

TEST_F(SubspaceDetectorTest, SlotThatStaysWithoutValueIsLeftOut) {
  warmUp();
  feed(SlotPresence::kPatience, 5, kNone);
  EXPECT_EQ(feed(100, 5, kNone).state, GroupState::kQuiet);
  EXPECT_TRUE(detector.latest().judged);
  for (int i = 0; i < 12; ++i) {
    auto sample = group.next();
    sample[5] = kNone;
    sample[3] += 8 * deviation(3);
    detector.observe(sample);
  }
  EXPECT_EQ(detector.latest().state, GroupState::kAnomalous);
  EXPECT_EQ(detector.latest().top[0].slot, 3U);
  feed(150, 5, kNone);
  EXPECT_EQ(detector.latest().state, GroupState::kQuiet);
  feed(SlotPresence::kPatience);  // it is back
  EXPECT_EQ(feed(100).state, GroupState::kQuiet);
  // Limits that are young and have just seen an incident are high, so this takes some samples.
  EXPECT_EQ(feed(40, 3, 8 * deviation(3)).state, GroupState::kAnomalous);
  EXPECT_EQ(detector.relearned(), 0U);
}

TEST_F(SubspaceDetectorTest, ASlotThatIsBackIsLearnedAgain) {
  warmUp();
  feed(2 * SlotPresence::kPatience, 5, kNone);
  feed(SlotPresence::kPatience + static_cast<int>(settings.warm_up) + 100);
  EXPECT_EQ(detector.latest().state, GroupState::kQuiet);
  EXPECT_EQ(feed(20, 5, 12 * deviation(5)).state, GroupState::kAnomalous);
  const auto& top = detector.latest().top;
  EXPECT_TRUE(std::any_of(top.begin(), top.end(), [](const Contribution& contribution) {
    return contribution.slot == 5 && contribution.score > 1;
  }));
}

// A group whose slots are those of Group, but for the order and a new one.
struct Rearranged : SubspaceDetectorTest {
  static constexpr std::array<std::size_t, kMetrics> kOrigins = {6, 5, kNewSlot, 3, 2, 1, 0, 7};

  SubspaceVerdict feedRearranged(int samples, std::size_t slot = 0, double added = 0) {
    SubspaceVerdict last;
    for (int i = 0; i < samples; ++i) {
      const auto sample = group.next();
      std::vector<double> moved(kMetrics);
      for (std::size_t to = 0; to < kMetrics; ++to) {
        // The new slot has the values of one that is gone, in another unit.
        moved[to] = kOrigins[to] == kNewSlot ? 7e9 * sample[4] : sample[kOrigins[to]];
      }
      moved[slot] += added;
      last = detector.observe(moved);
    }
    return last;
  }
};

TEST_F(Rearranged, SlotsThatStayAreJudgedAtOnce) {
  warmUp();
  feed(600);
  detector.rearrange(kOrigins, true);
  EXPECT_TRUE(feedRearranged(1).judged);
  EXPECT_EQ(feedRearranged(300).state, GroupState::kQuiet);
  EXPECT_EQ(detector.anomalies(), 0U);
  const auto verdict = feedRearranged(8, 5, 8 * deviation(1));
  EXPECT_EQ(verdict.state, GroupState::kAnomalous);
  EXPECT_EQ(verdict.top[0].slot, 5U);
}

TEST_F(Rearranged, ANewSlotIsJudgedOnceItIsKnown) {
  warmUp();
  feed(600);
  detector.rearrange(kOrigins, true);
  const double far = 7e9 * 12 * deviation(4);
  EXPECT_EQ(feedRearranged(300, 2, far).state, GroupState::kQuiet);  // not known yet
  detector.rearrange(std::array<std::size_t, kMetrics>{0, 1, kNewSlot, 3, 4, 5, 6, 7}, true);
  feedRearranged(static_cast<int>(2 * settings.warm_up));
  EXPECT_EQ(detector.latest().state, GroupState::kQuiet);
  EXPECT_EQ(detector.anomalies(), 0U);
  EXPECT_EQ(feedRearranged(20, 2, far).state, GroupState::kAnomalous);
  EXPECT_EQ(detector.latest().top[0].slot, 2U);
}

TEST_F(Rearranged, OtherNumbersOfSlotsAreTakenToo) {
  warmUp();
  detector.rearrange(std::vector<std::size_t>{3}, true);
  for (int i = 0; i < 100; ++i) detector.observe(std::vector<double>{group.next()[3]});
  EXPECT_TRUE(detector.latest().judged);
  std::vector<std::size_t> many(200, kNewSlot);  // too many for a learned model
  many[7] = 0;
  detector.rearrange(many, true);
  EXPECT_FALSE(detector.keepsHistory());
  std::vector<double> sample(200, 5);
  for (int i = 0; i < 100; ++i) {
    sample[7] = group.next()[3];
    detector.observe(sample);
  }
  EXPECT_TRUE(detector.latest().judged);
  EXPECT_EQ(detector.latest().state, GroupState::kQuiet);
}

TEST_F(Rearranged, DuringTheWarmUpToo) {
  feed(static_cast<int>(settings.warm_up) / 2);
  detector.rearrange(kOrigins, true);
  feedRearranged(static_cast<int>(3 * settings.warm_up));
  EXPECT_EQ(detector.latest().state, GroupState::kQuiet);
  EXPECT_EQ(detector.anomalies(), 0U);
  EXPECT_EQ(feedRearranged(8, 5, 8 * deviation(1)).state, GroupState::kAnomalous);
}

TEST_F(SubspaceDetectorTest, AllConstantIsQuiet) {
  const std::vector<double> sample(kMetrics, 5);
  for (std::uint32_t i = 0; i < settings.warm_up + 100; ++i) detector.observe(sample);
  EXPECT_EQ(detector.latest().state, GroupState::kQuiet);
  EXPECT_LE(detector.latest().score, 1);
}

TEST_F(SubspaceDetectorTest, AllocatesNothingOnceMade) {
  std::vector<std::vector<double>> samples;
  for (int i = 0; i < 1500; ++i) samples.push_back(group.next());
  const std::uint64_t before = allocations();
  for (const auto& sample : samples) detector.observe(sample);
  detector.relearn();
  EXPECT_EQ(allocations(), before);
}

TEST_F(SubspaceDetectorTest, AnAutoencoderTakesOverWhereItIsBetter) {
  Curves curves(kMetrics);
  const auto next = [&] { return curves.next(); };
  for (int i = 0; i < 4000; ++i) {
    detector.observe(next());
    detector.fit(1024);
  }
  EXPECT_GE(detector.fits(), 1U);
  EXPECT_TRUE(detector.usesLearnedModel());
  EXPECT_LE(detector.anomalies(), 1U);
  auto sample = next();
  for (int i = 0; i < 30; ++i) {
    sample = next();
    sample[4] += 1;
    detector.observe(sample);
  }
  EXPECT_EQ(detector.latest().state, GroupState::kAnomalous);
  EXPECT_EQ(detector.latest().top[0].slot, 4U);
  for (int i = 0; i < 300; ++i) detector.observe(next());
  // One slot is new: the model knows nothing of it, and stays in charge of the others.
  detector.rearrange(std::array<std::size_t, kMetrics>{0, 1, 2, 3, 4, 5, 6, kNewSlot}, true);
  EXPECT_TRUE(detector.usesLearnedModel());
  for (int i = 0; i < 600; ++i) detector.observe(next());
  EXPECT_EQ(detector.latest().state, GroupState::kQuiet);
  for (int i = 0; i < 30; ++i) {
    sample = next();
    sample[4] += 1;
    detector.observe(sample);
  }
  EXPECT_EQ(detector.latest().state, GroupState::kAnomalous);
  EXPECT_EQ(detector.latest().top[0].slot, 4U);
}

TEST_F(Rearranged, WithoutALearnedModelTheHistoryGoes) {
  detector.rearrange(kOrigins, false);
  EXPECT_FALSE(detector.keepsHistory());
  detector.rearrange(kOrigins, true);
  EXPECT_TRUE(detector.keepsHistory());
}

TEST(SubspaceSettings, Checked) {
  const auto fault = [](auto change) {
    SubspaceSettings settings;
    change(settings);
    const auto status = SubspaceDetector::check(settings, 10);
    return status ? std::string() : status.error().text();
  };
  EXPECT_EQ(fault([](auto&) {}), "");
  EXPECT_EQ(fault([](auto& s) { s.directions = 65; }),
            "anomaly detector: 65 directions: must be 2 to 64");
  EXPECT_NE(fault([](auto& s) { s.max_rank = s.directions; }), "");
  EXPECT_NE(fault([](auto& s) { s.shared = 0.5; }), "");
  EXPECT_NE(fault([](auto& s) { s.warm_up = 10; }), "");
  EXPECT_NE(fault([](auto& s) { s.half_life = kNone; }), "");
  EXPECT_NE(fault([](auto& s) { s.factor = 1; }), "");
  EXPECT_NE(fault([](auto& s) { s.pace = -1; }), "");
  EXPECT_NE(fault([](auto& s) { s.memory = 0; }), "");
  EXPECT_NE(fault([](auto& s) { s.hysteresis = {2, 1}; }), "");
  EXPECT_NE(fault([](auto& s) { s.evidence = kNone; }), "");
  EXPECT_NE(fault([](auto& s) { s.relearn_after = 0; }), "");
  EXPECT_FALSE(SubspaceDetector::check({}, 0));
  EXPECT_FALSE(SubspaceDetector::check({}, 1'000'000));
}

}  // namespace
