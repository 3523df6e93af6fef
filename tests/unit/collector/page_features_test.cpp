#include "collector/watch/page_features.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <random>

#include "collector/watch/owner_watch.h"

namespace pingloom::collector::page_features_test {
namespace {

// A counter in thousandths, a gauge, and a histogram with buckets up to 1024, 1536, 2048, 3072,
// 4096 and without an end, in thousandths too.
class Page {
 public:
  Page() {
    auto info = std::make_shared<PageInfo>();
    info->generation = 1;
    info->schema_version = 1;
    info->schema.push_back({PINGLOOM_COUNTER, false, 0, 1, {}, 0.001, "busy_total", "", {}});
    info->schema.push_back({PINGLOOM_GAUGE, false, 1, 1, {}, 1, "depth", "", {{"queue", "a"}}});
    const pingloom_histogram_shape shape{10, 12, 1};
    const auto slots = static_cast<std::uint16_t>(pingloom_histogram_slots(shape));
    info->schema.push_back({PINGLOOM_HISTOGRAM, false, 2, slots, shape, 0.001, "step", "", {}});
    info->slots = 2U + slots;
    view_.info = info;
    view_.values.assign(info->slots, 0);
  }
  // So many more values of `each` thousandths in a bucket.
  void count(std::size_t bucket, std::uint64_t values, std::uint64_t each) {
    view_.values[2] += values * each;
    view_.values[3 + bucket] += values;
  }
  PageView& view() { return view_; }
  PagesOfOwner pages() const { return {&view_}; }

 private:
  PageView view_;
};

enum Number : std::uint8_t { kBusy, kDepth, kRate, kMean, kP50, kP99, kFeatures };

TEST(PageFeatures, histogramsHaveFourAndOthersOne) {
  Page page;
  const PageFeatures features(page.pages());
  ASSERT_EQ(features.size(), kFeatures);
  EXPECT_EQ(PageFeatures::countOf(page.view().info->schema), kFeatures);
  EXPECT_EQ(features.all()[kDepth].metric, "depth{queue=a}");
  EXPECT_EQ(features.all()[kDepth].part, "");
  EXPECT_EQ(features.all()[kP99].metric, "step");
  EXPECT_EQ(features.all()[kP99].part, "p99");
  EXPECT_EQ(features.metricOf(kBusy).name, "busy_total");
  EXPECT_EQ(features.metricOf(kP99).name, "step");
}

// A pod's name is another one for each replica, and after each restart.
TEST(PageFeatures, namesHaveNoLabelsOfTheInstance) {
  const auto features = [](const std::string& pod, const std::string& other) {
    Page page;
    auto info = std::make_shared<PageInfo>(*page.view().info);
    for (pages::Metric& metric : info->schema) {
      metric.labels.emplace_back("k8s_pod_name", pod);
      metric.labels.emplace_back("zone", "x");
    }
    info->schema[0].labels.emplace_back("host_disk", other);
    page.view().info = info;
    return PageFeatures(page.pages());
  };
  const PageFeatures one = features("shop-1", "sda");
  EXPECT_EQ(one.all()[kBusy].metric, "busy_total{zone=x,host_disk=sda}") << "only one has it";
  EXPECT_EQ(one.all()[kDepth].metric, "depth{queue=a,zone=x}");
  EXPECT_EQ(one.fingerprint(), features("shop-2", "sda").fingerprint());
  EXPECT_NE(one.fingerprint(), features("shop-1", "sdb").fingerprint());
}

TEST(PageFeatures, anInfoHasNone) {
  auto info = std::make_shared<PageInfo>();
  info->schema.push_back({PINGLOOM_INFO, false, 0, 0, {}, 1, "build_info", "", {{"v", "1"}}});
  PageView view;
  view.info = info;
  EXPECT_EQ(PageFeatures::countOf(info->schema), 0U);
  EXPECT_EQ(PageFeatures({&view}).size(), 0U);
  EXPECT_EQ(OwnerWatch::make({&view}, {}), nullptr);
  Page page;
  auto more = std::make_shared<PageInfo>(*page.view().info);
  pages::Metric last = info->schema[0];
  last.first_slot = static_cast<std::uint16_t>(more->slots);
  more->schema.push_back(last);
  page.view().info = more;
  PageFeatures features(page.pages());
  EXPECT_EQ(features.size(), kFeatures);
  EXPECT_EQ(features.update(kSecond, page.pages()).size(), kFeatures);
}

TEST(PageFeatures, areInTheUnitsOfTheMetrics) {
  Page page;
  PageFeatures features(page.pages());
  EXPECT_TRUE(std::isnan(features.update(kSecond, page.pages())[kBusy]));
  page.view().values[0] += 5000;
  page.view().values[1] = std::bit_cast<std::uint64_t>(2.5);
  page.count(1, 400, 1200);
  const auto values = features.update(3 * kSecond, page.pages());
  EXPECT_DOUBLE_EQ(values[kBusy], 2.5);
  EXPECT_DOUBLE_EQ(values[kDepth], 2.5);
  EXPECT_DOUBLE_EQ(values[kRate], 200);
  EXPECT_DOUBLE_EQ(values[kMean], 1.2);
  EXPECT_DOUBLE_EQ(values[kP50], 1.280);
  EXPECT_NEAR(values[kP99], 1.531, 0.001);
}

TEST(PageFeatures, aCounterWithFractionsHasARate) {
  auto info = std::make_shared<PageInfo>();
  info->slots = 1;
  info->schema.push_back({PINGLOOM_COUNTER, true, 0, 1, {}, 1, "spent_total", "", {}});
  info->schema[0].fractions = true;
  PageView page;
  page.info = info;
  page.values = {std::bit_cast<std::uint64_t>(10.0)};
  PageFeatures features({&page});
  EXPECT_TRUE(features.rates()[0]);
  features.update(kSecond, {&page});
  page.values = {std::bit_cast<std::uint64_t>(11.0)};
  EXPECT_DOUBLE_EQ(features.update(3 * kSecond, {&page})[0], 0.5);
}

TEST(PageFeatures, aHistogramWithoutNewValuesStaysAsItIs) {
  Page page;
  PageFeatures features(page.pages());
  features.update(kSecond, page.pages());
  auto values = features.update(2 * kSecond, page.pages());
  EXPECT_EQ(values[kRate], 0);
  EXPECT_EQ(values[kMean], 0);  // nothing was counted yet
  page.count(1, 400, 1200);
  features.update(3 * kSecond, page.pages());
  values = features.update(4 * kSecond, page.pages());
  EXPECT_EQ(values[kRate], 0);
  EXPECT_DOUBLE_EQ(values[kMean], 1.2);
  EXPECT_DOUBLE_EQ(values[kP50], 1.280);
}

TEST(PageFeatures, quantilesFollowSlowly) {
  Page page;
  PageFeatures features(page.pages());
  Nanos now = kSecond;
  features.update(now, page.pages());
  const auto second = [&](std::size_t bucket) {
    page.count(bucket, 100, 1200);
    return features.update(now += kSecond, page.pages())[kP50];
  };
  EXPECT_EQ(second(1), 0);  // too few values
  for (int i = 0; i < 60; ++i) second(1);
  EXPECT_LT(second(4), 1.536);
  for (int i = 0; i < 60; ++i) second(4);
  EXPECT_GT(second(4), 3.072);
}

// Medians of values that come from one distribution scatter by what least() is a multiple of.
TEST(PageFeatures, aQuantileHasTheErrorOfFewValues) {
  Page page;
  PageFeatures features(page.pages());
  std::mt19937 random(1);
  double sum = 0;
  double squares = 0;
  double error = 0;
  constexpr int kSamples = 4000;
  for (int second = -300; second < kSamples; ++second) {
    // The median is where the buckets meet.
    for (int i = 0; i < 30; ++i) page.count(1 + (random() % 2), 1, 2048);
    const auto sample = features.update((second + 1000) * kSecond, page.pages());
    if (second < 0) continue;
    sum += sample[kP50] / kSamples;
    squares += sample[kP50] * sample[kP50] / kSamples;
    error += features.least()[kP50] / PageFeatures::kErrors / kSamples;
  }
  EXPECT_NEAR(std::sqrt(squares - sum * sum) / error, 1, 0.25);
  EXPECT_GT(features.least()[kP99], 0);
  EXPECT_EQ(features.least()[kMean], 0);
}

// A distribution that has a new tail says little about its quantiles, and has changed nevertheless.
TEST(PageFeatures, aNewTailIsBeyondTheUsualError) {
  Page page;
  PageFeatures features(page.pages());
  Nanos now = 0;
  const auto feed = [&](int seconds, std::uint64_t in_tail) {
    for (int i = 0; i < seconds; ++i) {
      page.count(1, 50 - in_tail, 1280);
      page.count(2, 50, 1792);
      page.count(4, in_tail, 3584);
      features.update(now += kSecond, page.pages());
    }
  };
  feed(600, 0);
  const double usual = features.update(now += kSecond, page.pages())[kP99];
  feed(120, 3);
  const double tail = features.update(now += kSecond, page.pages())[kP99];
  EXPECT_GT(features.least()[kP99], 0);
  EXPECT_GT(tail - usual, 10 * features.least()[kP99]);
}

TEST(PageFeatures, theErrorOfAQuantileContinues) {
  Page page;
  PageFeatures features(page.pages());
  for (int second = 1; second < 100; ++second) {
    page.count(1, 5, 1280);
    page.count(2, 5, 1792);
    features.update(second * kSecond, page.pages());
  }
  PageFeatures next(page.pages());
  next.takeOver(features.remember());
  for (const std::size_t part : {kP50, kP99}) {
    EXPECT_GT(next.least()[part], 0);
    EXPECT_NEAR(next.least()[part] / features.least()[part], 1, 0.2);
  }
}

TEST(PageFeatures, aRestartedOwnerHasAGap) {
  Page page;
  PageFeatures features(page.pages());
  page.count(1, 400, 1200);
  features.update(kSecond, page.pages());
  page.view().values.assign(page.view().values.size(), 0);
  const auto values = features.update(2 * kSecond, page.pages());
  EXPECT_TRUE(std::isnan(values[kRate]));
  EXPECT_FALSE(std::isnan(values[kMean]));
}

// A counter, and then a summary.
class SummaryPage {
 public:
  explicit SummaryPage(std::vector<double> quantiles = {0.5, 0.999}) {
    auto info = std::make_shared<PageInfo>();
    info->schema.push_back({PINGLOOM_COUNTER, false, 0, 1, {}, 1, "jobs_total", "", {}});
    const auto slots = static_cast<std::uint16_t>(quantiles.size() + 2);
    info->slots = 1U + slots;
    info->schema.push_back(
        {PINGLOOM_SUMMARY, false, 1, slots, {}, 1, "wait", "", {}, {}, quantiles});
    view_.info = info;
    view_.values.assign(info->slots, 0);
  }
  void set(std::uint64_t count, double sum, const std::vector<double>& values) {
    view_.values[1] = count;
    view_.values[2] = std::bit_cast<std::uint64_t>(sum);
    for (std::size_t i = 0; i < values.size(); ++i) {
      view_.values[3 + i] = std::bit_cast<std::uint64_t>(values[i]);
    }
  }
  PagesOfOwner pages() const { return {&view_}; }

 private:
  PageView view_;
};

enum SummaryNumber : std::uint8_t {
  kJobs,
  kSummaryRate,
  kSummaryMean,
  kMedian,
  kTail,
  kSummaryFeatures
};

TEST(PageFeatures, aSummaryHasItsRateMeanAndQuantiles) {
  SummaryPage page;
  PageFeatures features(page.pages());
  ASSERT_EQ(features.size(), kSummaryFeatures);
  EXPECT_EQ(PageFeatures::countOf(page.pages()[0]->info->schema), kSummaryFeatures);
  EXPECT_EQ(features.all()[kSummaryMean].metric, "wait");
  EXPECT_EQ(features.all()[kSummaryMean].part, "mean");
  EXPECT_EQ(features.all()[kTail].part, "p99.9");
  EXPECT_EQ(features.metricOf(kTail).name, "wait");
  auto values = features.update(kSecond, page.pages());
  for (const SummaryNumber each : {kSummaryRate, kSummaryMean, kMedian, kTail}) {
    EXPECT_TRUE(std::isnan(values[each])) << "nothing was set yet: " << each;
  }
  page.set(4, 1, {0.2, 0.4});
  values = features.update(3 * kSecond, page.pages());
  EXPECT_DOUBLE_EQ(values[kSummaryRate], 2);
  EXPECT_DOUBLE_EQ(values[kSummaryMean], 0.25);
  EXPECT_EQ(values[kMedian], 0.2);
  EXPECT_EQ(values[kTail], 0.4);
  page.set(4, 1, {0.3, std::nan("")});
  values = features.update(4 * kSecond, page.pages());
  EXPECT_EQ(values[kSummaryRate], 0);
  EXPECT_DOUBLE_EQ(values[kSummaryMean], 0.25) << "it stays, because no value came";
  EXPECT_EQ(values[kMedian], 0.3);
  EXPECT_EQ(values[kTail], 0.4) << "it stays while it is not known";
}

TEST(PageFeatures, aSummaryContinuesByQuantile) {
  SummaryPage before, after({0.5, 0.9, 0.999});
  const PageFeatures old(before.pages());
  PageFeatures features(after.pages());
  EXPECT_THAT(features.takeOver(old.remember()),
              testing::ElementsAre(0, 1, 2, 3, analytics::kNewSlot, 4));
  EXPECT_NE(features.fingerprint(), old.fingerprint());
  EXPECT_EQ(old.fingerprint(), PageFeatures(SummaryPage().pages()).fingerprint());
  SummaryPage fewer({0.999});
  EXPECT_THAT(PageFeatures(fewer.pages()).takeOver(old.remember()),
              testing::ElementsAre(0, 1, 2, 4));
}

TEST(PageFeatures, equalFeaturesHaveEqualFingerprints) {
  Page page, same, other;
  auto info = std::make_shared<PageInfo>(*other.view().info);
  info->schema[1].labels[0].second = "b";
  other.view().info = info;
  const PageFeatures features(page.pages());
  EXPECT_EQ(features.fingerprint(), PageFeatures(same.pages()).fingerprint());
  EXPECT_NE(features.fingerprint(), PageFeatures(other.pages()).fingerprint());
  EXPECT_TRUE(features.fits(same.pages()));
  EXPECT_FALSE(features.fits({}));
}

}  // namespace
}  // namespace pingloom::collector::page_features_test
