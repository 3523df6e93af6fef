#include "collector/analytics/autoencoder.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

#include "collector/analytics/autoencoder_fit.h"

namespace {

using namespace pingloom::collector::analytics;

constexpr std::size_t kSlots = 6;
constexpr std::size_t kConstant = 5;

// Metrics that follow one load along curves.
class Curves {
 public:
  std::vector<double> next() {
    const double load = uniform_(random_);
    std::vector<double> sample(kSlots);
    for (std::size_t i = 0; i < kConstant; ++i) {
      const double curve = i % 2 == 0 ? load : 1 / (1.05 - load);
      sample[i] = static_cast<double>(i + 1) * curve + 0.02 * normal_(random_);
    }
    sample[kConstant] = 4;
    return sample;
  }

 private:
  std::mt19937_64 random_{9};
  std::uniform_real_distribution<double> uniform_{0, 1};
  std::normal_distribution<double> normal_;
};

struct AutoencoderTest : testing::Test {
  AutoencoderTest() {
    for (std::size_t i = 0; i < 2048; ++i) history.add(curves.next());
  }
  std::unique_ptr<Autoencoder> fitted(std::size_t slice) {
    std::vector<bool> active(kSlots, true);
    active[kConstant] = false;
    AutoencoderFit fit(history, active, 1);
    while (!fit.step(slice)) {
    }
    return fit.take();
  }
  Curves curves;
  SampleHistory history{kSlots, 2048, 2048};
};

TEST_F(AutoencoderTest, ASliceVisitsNoMoreRowsThanItMay) {
  constexpr std::size_t kSlice = 4 * AutoencoderFit::kBatch;
  AutoencoderFit fit(history, std::vector<bool>(kSlots, true), 1);
  std::size_t slices = 1;
  while (!fit.step(kSlice)) ++slices;
  EXPECT_EQ(slices, AutoencoderFit::kVisits / kSlice);
}

TEST_F(AutoencoderTest, SlotsMayGetOtherNumbers) {
  const auto model = fitted(4096);
  const auto sample = curves.next();
  std::vector<double> before(kSlots);
  model->residual(sample, before);
  const std::vector<std::size_t> from = {4, kNewSlot, 3, 2, 1, 0, 5};
  model->rearrange(from);
  ASSERT_EQ(model->slots(), from.size());
  std::vector<double> moved(from.size(), 1e6);
  for (std::size_t i = 0; i < from.size(); ++i) {
    if (from[i] != kNewSlot) moved[i] = sample[from[i]];
  }
  std::vector<double> after(from.size());
  model->residual(moved, after);
  for (std::size_t i = 0; i < from.size(); ++i) {
    EXPECT_NEAR(after[i], from[i] == kNewSlot ? 0 : before[from[i]], 1e-4) << i;
  }
}

TEST_F(AutoencoderTest, FollowsCurvesItHasNotSeen) {
  const auto model = fitted(4096);
  std::vector<double> left(kSlots);
  double square = 0;
  for (int i = 0; i < 500; ++i) {
    model->residual(curves.next(), left);
    for (std::size_t s = 0; s < kConstant; ++s) square += left[s] * left[s];
    EXPECT_EQ(left[kConstant], 0);
  }
  // A deviation is 1, so this is the share that it does not explain.
  EXPECT_LT(square / (500 * kConstant), 0.02);
}

TEST_F(AutoencoderTest, AMetricThatIsOffIsNotRepeated) {
  const auto model = fitted(4096);
  std::vector<double> left(kSlots);
  for (int i = 0; i < 50; ++i) {
    auto sample = curves.next();
    sample[2] += 4 * model->scale(2);
    model->residual(sample, left);
    EXPECT_GT(left[2], 2);
    for (const std::size_t other : {0U, 1U, 3U, 4U}) EXPECT_LT(std::abs(left[other]), left[2]);
  }
}

TEST_F(AutoencoderTest, DependsOnSeedAndHistoryOnly) {
  EXPECT_EQ(fitted(64)->weights(), fitted(100'000)->weights());
}

}  // namespace
