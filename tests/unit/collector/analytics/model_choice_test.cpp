#include <gtest/gtest.h>

#include <array>
#include <random>
#include <vector>

#include "collector/analytics/subspace_detector.h"

namespace pingloom::collector::analytics::model_choice_test {
namespace {

constexpr std::size_t kMetrics = 24;

// Metrics that follow six loads along straight lines. Directions follow all six of them, and an
// autoencoder only as many as it has numbers in its middle, which are four.
class Lines {
 public:
  Lines() {
    for (auto& weights : weights_) {
      for (double& weight : weights) weight = normal_(random_);
    }
  }
  std::vector<double> next() {
    std::array<double, kLoads> loads{};
    for (double& load : loads) load = normal_(random_);
    std::vector<double> sample(kMetrics);
    for (std::size_t m = 0; m < kMetrics; ++m) {
      sample[m] = 100 + 0.1 * normal_(random_);
      for (std::size_t i = 0; i < kLoads; ++i) sample[m] += weights_[m][i] * loads[i];
    }
    return sample;
  }

 private:
  static constexpr std::size_t kLoads = 6;
  std::mt19937_64 random_{3};
  std::normal_distribution<double> normal_;
  std::array<std::array<double, kLoads>, kMetrics> weights_{};
};

TEST(ModelChoice, ACandidateThatExplainsLessThanTheSketchIsRefused) {
  SubspaceDetector detector(kMetrics, {});
  Lines lines;
  for (int i = 0; i < 5000; ++i) {
    detector.observe(lines.next());
    detector.fit(1024);
    ASSERT_FALSE(detector.usesLearnedModel()) << "after " << i << " samples";
  }
  // A fit begins only when the candidate of the one before has been compared.
  EXPECT_GE(detector.fits(), 3U);
  EXPECT_EQ(detector.adopted(), 0U);
  EXPECT_EQ(detector.groupState(), GroupState::kQuiet);
  for (int i = 0; i < 30; ++i) {
    auto sample = lines.next();
    sample[4] += 5;
    detector.observe(sample);
  }
  EXPECT_EQ(detector.groupState(), GroupState::kAnomalous) << "the sketch judges";
  EXPECT_EQ(detector.latest().top[0].slot, 4U);
}

}  // namespace
}  // namespace pingloom::collector::analytics::model_choice_test
