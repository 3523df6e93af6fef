#include "collector/watch/owner_watch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>

#include "watched_page.h"

namespace pingloom::collector::owner_watch_test {
namespace {

using watched::quickSettings;
using watched::WatchedPage;

TEST(OwnerWatch, aCounterOverItsLimitBeginsAndEnds) {
  WatchSettings settings = quickSettings();
  settings.limits.push_back(
      {"jobs_total", analytics::ThresholdRule::Side::kAbove, 50, {.raise = 2, .window = 3}});
  WatchedPage page;
  auto watch = OwnerWatch::make(page.next(0), settings);
  ASSERT_NE(watch, nullptr);
  std::vector<WatchEvent> events;
  for (const std::uint64_t jobs : {10, 60, 10, 60}) watch->observe(page.next(jobs), events);
  ASSERT_EQ(events.size(), 1U);
  EXPECT_EQ(events[0].kind, "limit");
  EXPECT_TRUE(events[0].began);
  EXPECT_EQ(events[0].metric, "jobs_total");
  EXPECT_EQ(events[0].value, 60);
  EXPECT_EQ(events[0].application, "queue");
  EXPECT_TRUE(watch->anomalous());
  for (int i = 0; i < 3; ++i) watch->observe(page.next(10), events);
  ASSERT_EQ(events.size(), 2U);
  EXPECT_FALSE(events[1].began);
  EXPECT_FALSE(watch->anomalous());
}

TEST(OwnerWatch, aMetricThatLeavesTheOthersIsNamed) {
  WatchedPage page;
  auto watch = OwnerWatch::make(page.next(0), WatchSettings());
  std::vector<WatchEvent> events;
  for (int i = 0; i < 3000; ++i) watch->observe(page.next(20), events);
  EXPECT_THAT(events, testing::IsEmpty());
  EXPECT_EQ(watch->state(), analytics::GroupState::kQuiet);
  for (int i = 0; i < 10; ++i) watch->observe(page.next(20, 3), events);
  ASSERT_EQ(events.size(), 1U);
  EXPECT_EQ(events[0].kind, "anomaly");
  EXPECT_EQ(events[0].metric, "depth{queue=3}");
  EXPECT_GT(events[0].value, 1);
  EXPECT_NE(events[0].statistic, "");
  ASSERT_FALSE(events[0].deviations.empty());
  EXPECT_EQ(events[0].deviations[0].metric, "depth{queue=3}");
  EXPECT_EQ(events[0].deviations[0].part, "");
  EXPECT_GT(events[0].deviations[0].value, 100);
  EXPECT_EQ(events[0].deviations[0].peers, std::nullopt);
  EXPECT_EQ(watch->deviations().size(), events[0].deviations.size());
  EXPECT_EQ(watch->state(), analytics::GroupState::kAnomalous);
}

TEST(OwnerWatch, takesASampleOnlyOfPagesThatWereReadSince) {
  WatchSettings settings = quickSettings();
  settings.limits.push_back(
      {"jobs_total", analytics::ThresholdRule::Side::kBelow, 5, {.raise = 1, .window = 1}});
  WatchedPage page;
  auto watch = OwnerWatch::make(page.next(0), settings);
  std::vector<WatchEvent> events;
  watch->observe(page.next(10), events);
  const PagesOfOwner same = page.next(10);
  watch->observe(same, events);
  watch->observe(same, events);  // a rate of 0 would be below
  page.next(0);
  page.view().state = PageState::kTorn;
  watch->observe({&page.view()}, events);
  EXPECT_THAT(events, testing::IsEmpty());
}

TEST(OwnerWatch, isMadeAnewForOtherMetrics) {
  WatchedPage page;
  auto watch = OwnerWatch::make(page.next(0), quickSettings());
  EXPECT_TRUE(watch->fits(page.next(1)));
  auto more = std::make_shared<PageInfo>(*page.view().info);
  ++more->schema_version;
  page.view().info = more;
  EXPECT_FALSE(watch->fits({&page.view()}));
  EXPECT_FALSE(watch->fits({}));
}

TEST(OwnerWatch, isJudgedAlthoughMetricsAreAddedAllTheTime) {
  WatchedPage page;
  auto watch = OwnerWatch::make(page.next(0), WatchSettings());
  std::vector<WatchEvent> events;
  for (int i = 1; i <= 1000; ++i) {
    watch->observe(page.next(20), events);
    if (i % 40 != 0) continue;
    page.grow();
    auto next = OwnerWatch::make({&page.view()}, WatchSettings());
    next->takeOver(std::move(*watch).end());
    watch = std::move(next);
  }
  EXPECT_THAT(events, testing::IsEmpty());
  EXPECT_EQ(watch->state(), analytics::GroupState::kQuiet);
  for (int i = 0; i < 10; ++i) watch->observe(page.next(20, 3), events);
  ASSERT_EQ(events.size(), 1U);
  EXPECT_EQ(events[0].metric, "depth{queue=3}");
}

TEST(OwnerWatch, goesOnWithoutAMetricThatWasRemoved) {
  WatchedPage page;
  auto watch = OwnerWatch::make(page.next(0), WatchSettings());
  std::vector<WatchEvent> events;
  for (int i = 1; i <= 1000; ++i) watch->observe(page.next(20), events);
  ASSERT_EQ(watch->state(), analytics::GroupState::kQuiet);
  page.shrink();
  EXPECT_FALSE(watch->fits({&page.view()}));
  auto next = OwnerWatch::make({&page.view()}, WatchSettings());
  EXPECT_EQ(next->features() + 1, watch->features());
  next->takeOver(std::move(*watch).end());
  for (int i = 0; i < 100; ++i) next->observe(page.next(20), events);
  EXPECT_THAT(events, testing::IsEmpty());
  EXPECT_EQ(next->state(), analytics::GroupState::kQuiet) << "it does not learn anew";
  for (int i = 0; i < 10; ++i) next->observe(page.next(20, 3), events);
  ASSERT_EQ(events.size(), 1U);
  EXPECT_EQ(events[0].metric, "depth{queue=3}");
}

// The values of a page belong to the metrics from before until it is read again.
TEST(OwnerWatch, takesNoSampleOfMetricsThatWereNotRead) {
  WatchedPage page;
  auto watch = OwnerWatch::make(page.next(0), WatchSettings());
  std::vector<WatchEvent> events;
  page.next(20);
  page.view().unread = std::vector<bool>(8, false);
  page.view().unread[3] = true;
  EXPECT_FALSE(watch->observe({&page.view()}, events));
  page.view().unread.clear();
  EXPECT_TRUE(watch->observe({&page.view()}, events));
}

TEST(OwnerWatch, whatItKnowsIsWrittenAndRead) {
  WatchedPage page;
  const WatchSettings settings;
  auto watch = OwnerWatch::make(page.next(0), settings);
  std::vector<WatchEvent> events;
  for (int i = 1; i <= 3000; ++i) watch->observe(page.next(20), events);
  std::string bytes;
  watch->write(bytes);
  auto other = settings.subspace;
  other.factor = 8;
  EXPECT_FALSE(readMemory(bytes, other)) << "it was learned with other settings";
  EXPECT_FALSE(readMemory(bytes.substr(0, bytes.size() - 1), settings.subspace));
  EXPECT_FALSE(readMemory(bytes + "a", settings.subspace));
  EXPECT_FALSE(readMemory("", settings.subspace));
  auto memory = readMemory(bytes, settings.subspace);
  ASSERT_TRUE(memory);
  auto next = OwnerWatch::make({&page.view()}, settings);
  EXPECT_EQ(next->state(), analytics::GroupState::kLearning);
  next->takeOver(std::move(*memory));
  EXPECT_EQ(next->state(), analytics::GroupState::kQuiet);
  for (int i = 0; i < 20; ++i) next->observe(page.next(20), events);
  EXPECT_THAT(events, testing::IsEmpty());
  for (int i = 0; i < 10; ++i) next->observe(page.next(20, 3), events);
  ASSERT_EQ(events.size(), 1U);
  EXPECT_EQ(events[0].metric, "depth{queue=3}");
}

// Each sample is ten seconds after the one before.
struct SeasonalWatch {
  void samples(int count, std::uint64_t jobs) {
    for (int i = 0; i < count; ++i) {
      page.view().read += 9 * kSecond;
      watch->observe(page.next(jobs + static_cast<std::uint64_t>(i % 7)), events, kAhead);
    }
  }
  std::vector<WatchEvent> ofSeason() const {
    std::vector<WatchEvent> found;
    std::copy_if(events.begin(), events.end(), std::back_inserter(found),
                 [](const WatchEvent& event) { return event.statistic == "season"; });
    return found;
  }
  static constexpr int kDay = 8640;
  static constexpr Nanos kAhead = 20'000 * kDay * 10 * kSecond;
  WatchSettings settings = quickSettings();
  WatchedPage page;
  std::unique_ptr<OwnerWatch> watch = OwnerWatch::make(page.next(0), settings);
  std::vector<WatchEvent> events;
};

TEST(OwnerWatch, trafficBelowThatOfFormerDaysIsNamedWithTheUsual) {
  SeasonalWatch seasonal;
  seasonal.samples(4 * SeasonalWatch::kDay, 200);
  EXPECT_THAT(seasonal.ofSeason(), testing::IsEmpty());
  seasonal.samples(60, 100);
  const auto began = seasonal.ofSeason();
  ASSERT_EQ(began.size(), 1U);
  EXPECT_TRUE(began[0].began);
  EXPECT_EQ(began[0].kind, "anomaly");
  EXPECT_EQ(began[0].metric, "jobs_total");
  ASSERT_EQ(began[0].deviations.size(), 1U);
  const Deviation& low = began[0].deviations[0];
  EXPECT_EQ(low.statistic, "season");
  EXPECT_LT(low.score, -1);
  ASSERT_TRUE(low.usual);
  EXPECT_NEAR(*low.usual, 20.3, 1);
  EXPECT_LT(low.value, 16);
  EXPECT_TRUE(seasonal.watch->anomalous());
  seasonal.samples(120, 200);
  ASSERT_EQ(seasonal.ofSeason().size(), 2U);
  EXPECT_FALSE(seasonal.ofSeason()[1].began);
}

TEST(OwnerWatch, theSeasonIsWrittenAndMayBeMissingOrSwitchedOff) {
  SeasonalWatch seasonal;
  seasonal.samples(4 * SeasonalWatch::kDay, 200);
  std::string bytes;
  seasonal.watch->write(bytes);
  auto memory = readMemory(bytes, seasonal.settings.subspace);
  ASSERT_TRUE(memory && memory->season);
  auto next = OwnerWatch::make({&seasonal.page.view()}, seasonal.settings);
  next->takeOver(std::move(*memory));
  seasonal.watch = std::move(next);
  seasonal.samples(60, 100);
  EXPECT_EQ(seasonal.ofSeason().size(), 1U);

  WatchSettings without = seasonal.settings;
  without.subspace.season = false;
  next = OwnerWatch::make({&seasonal.page.view()}, without);
  EXPECT_FALSE(next->hasSeason());
  memory = readMemory(bytes, without.subspace);
  ASSERT_TRUE(memory) << "the rest is the same";
  next->takeOver(std::move(*memory));
  EXPECT_EQ(next->state(), analytics::GroupState::kQuiet);
  std::string old;
  next->write(old);
  old.pop_back();  // version 2 did not say that there is none
  memory = readMemory(old, seasonal.settings.subspace);
  ASSERT_TRUE(memory);
  EXPECT_EQ(memory->season, nullptr);
  EXPECT_FALSE(
      OwnerWatch::make({&seasonal.page.view()}, seasonal.settings, true, false)->hasSeason());
}

TEST(OwnerWatch, isNotMadeForWhatHasNoMetricsOrTooMany) {
  WatchedPage page;
  EXPECT_EQ(OwnerWatch::make({}, quickSettings()), nullptr);
  WatchedPage wide(500);
  const PagesOfOwner many(9, &wide.view());
  EXPECT_EQ(OwnerWatch::make(many, quickSettings()), nullptr);
}

TEST(OwnerWatch, anApplicationsOwnSettingsAreUsed) {
  WatchedPage page;
  WatchSettings settings;
  settings.subspace.warm_up = 300;
  settings.applications["queue"].subspace = settings.subspace;
  settings.applications["queue"].subspace.warm_up = 1200;
  settings.applications["queue"].peers.limit = 8;
  const auto own = OwnerWatch::make(page.next(1), settings);
  settings.applications.clear();
  const auto usual = OwnerWatch::make(page.next(1), settings);
  ASSERT_TRUE(own != nullptr && usual != nullptr);
  EXPECT_EQ(own->replica().settings().limit, 8);
  EXPECT_EQ(usual->replica().settings(), analytics::PeerSettings());
  std::vector<WatchEvent> events;
  for (int i = 0; i < 400; ++i) {
    const PagesOfOwner pages = page.next(10);
    own->observe(pages, events);
    usual->observe(pages, events);
  }
  EXPECT_EQ(own->state(), analytics::GroupState::kLearning);
  EXPECT_EQ(usual->state(), analytics::GroupState::kQuiet);
}

}  // namespace
}  // namespace pingloom::collector::owner_watch_test
