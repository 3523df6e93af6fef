#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <chrono>
#include <random>
#include <thread>

#include "collector/watch/watcher.h"
#include "common/file.h"
#include "common/metrics_text.h"
#include "unit/common/temporary_directory.h"
#include "unit/eventually.h"

namespace pingloom::collector::watch_test {
namespace {

using test::eventually;

constexpr std::uint64_t kOwner = 7;

// A page with a counter and gauges that follow one hidden load, as an application's do.
class WatchedPage {
 public:
  explicit WatchedPage(std::size_t gauges = 7) : gauges_(gauges) {
    auto info = std::make_shared<PageInfo>();
    info->generation = 1;
    info->owner = kOwner;
    info->application = "queue";
    info->process = 42;
    info->schema.push_back({PINGLOOM_COUNTER, false, 0, 1, {}, 1, "jobs_total", "", {}});
    for (std::size_t i = 1; i <= gauges; ++i) {
      info->schema.push_back({PINGLOOM_GAUGE,
                              false,
                              static_cast<std::uint16_t>(i),
                              1,
                              {},
                              1,
                              "depth",
                              "",
                              {{"queue", std::to_string(i)}}});
    }
    info->schema_version = 1;
    info->slots = 1 + gauges;
    view_.info = info;
    view_.state = PageState::kFresh;
    view_.slots = static_cast<std::uint32_t>(info->slots);
    view_.values.assign(info->slots, 0);
  }

  // A second later, with so many jobs more; the gauge `broken` does not follow the load.
  PagesOfOwner next(std::uint64_t jobs, std::size_t broken = 0) {
    view_.read += kSecond;
    view_.values[0] += jobs;
    const double load = normal_(random_);
    for (std::size_t i = 1; i <= gauges_; ++i) {
      const double own = static_cast<double>(i) * (10 + load) + 0.1 * normal_(random_);
      view_.values[i] = std::bit_cast<std::uint64_t>(i == broken ? own + 100 : own);
    }
    return {&view_};
  }
  PageView& view() { return view_; }
  // Adds a gauge.
  void grow() {
    auto info = std::make_shared<PageInfo>(*view_.info);
    pages::Metric more = info->schema.back();
    ++more.first_slot;
    more.labels[0].second = std::to_string(++gauges_);
    info->schema.push_back(std::move(more));
    ++info->schema_version;
    info->slots = ++view_.slots;
    view_.values.push_back(0);
    view_.info = info;
  }
  // Another process has the page from now on.
  void restart() {
    auto info = std::make_shared<PageInfo>(*view_.info);
    ++info->generation;
    ++info->owner;
    ++info->process;
    view_.values.assign(view_.values.size(), 0);
    view_.info = info;
  }

 private:
  std::size_t gauges_;
  PageView view_;
  std::mt19937 random_{1};
  std::normal_distribution<double> normal_;
};

WatchSettings quickSettings() {
  WatchSettings settings;
  settings.subspace.directions = 8;
  settings.subspace.max_rank = 4;
  settings.subspace.warm_up = 120;
  return settings;
}

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
  for (int i = 0; i < 1000; ++i) watch->observe(page.next(20), events);
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

TEST(OwnerWatch, whatItKnowsIsWrittenAndRead) {
  WatchedPage page;
  const WatchSettings settings;
  auto watch = OwnerWatch::make(page.next(0), settings);
  std::vector<WatchEvent> events;
  for (int i = 1; i <= 1000; ++i) watch->observe(page.next(20), events);
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

TEST(OwnerWatch, isNotMadeForWhatHasNoMetricsOrTooMany) {
  WatchedPage page;
  EXPECT_EQ(OwnerWatch::make({}, quickSettings()), nullptr);
  WatchedPage wide(500);
  const PagesOfOwner many(9, &wide.view());
  EXPECT_EQ(OwnerWatch::make(many, quickSettings()), nullptr);
}

std::string metricsOf(const Watcher& watcher) {
  MetricsText out;
  watcher.metrics(out);
  return out.text();
}

TEST(Watcher, tellsOwnersOfOneNameApart) {
  Board board;
  WatchedPage first, second;
  first.next(1);
  second.next(1);
  auto info = std::make_shared<PageInfo>(*second.view().info);
  info->generation = 2;
  info->owner = kOwner + 1;
  info->numbered = true;
  second.view().info = info;
  board.add("10.0.0.1:20714")->update([&](AgentView& view) {
    view.host = "h1";
    view.pages = {first.view(), second.view()};
  });
  WatchSettings settings = quickSettings();
  settings.interval = kHour;
  Watcher watcher(board, settings);
  const std::string shown =
      "pingloom_collector_anomalous{host=\"h1\",application=\"queue\",pid=\"42\"} 0\n"
      "pingloom_collector_anomalous{host=\"h1\",application=\"queue\",pid=\"42\",owner=\"8\"} 0\n";
  ASSERT_TRUE(eventually([&] { return metricsOf(watcher).find(shown) != std::string::npos; }))
      << metricsOf(watcher);
}

TEST(Watcher, aReloadForgetsOnlyWhatItChanges) {
  Board board;
  WatchedPage page;
  page.next(1);
  board.add("10.0.0.1:20714")->update([&](AgentView& view) {
    view.host = "h1";
    view.pages = {page.view()};
  });
  WatchSettings settings = quickSettings();
  settings.interval = kHour;  // it looks once, when it is made
  Watcher watcher(board, settings);
  const std::string shown = "pingloom_collector_anomalous{host=\"h1\",application=\"queue\"";
  ASSERT_TRUE(eventually([&] { return metricsOf(watcher).find(shown) != std::string::npos; }))
      << metricsOf(watcher);
  settings.applications["other"].factor = 8;
  watcher.reload(settings);
  EXPECT_THAT(metricsOf(watcher), testing::HasSubstr(shown));
  settings.applications["queue"] = settings.subspace;
  settings.applications["queue"].factor = 8;
  watcher.reload(settings);
  EXPECT_THAT(metricsOf(watcher), testing::Not(testing::HasSubstr(shown)));
}

// The watch of an application with this interval, which takes a sample of each reading.
struct Watched {
  Watched() {
    settings.interval = 100 * kMillisecond;
    settings.subspace.learned = false;
  }
  void publish(std::uint64_t jobs, std::uint64_t incarnation = 1) {
    page.next(jobs);
    entry->update([&](AgentView& view) {
      view.agent = "10.0.0.1:20714";
      view.incarnation = incarnation;
      view.host = "h1";
      view.pages = {page.view()};
    });
  }
  Board board;
  std::shared_ptr<BoardEntry> entry = board.add("10.0.0.1:20714");
  WatchedPage page;
  WatchSettings settings = quickSettings();
};

TEST(Watcher, anApplicationThatReturnsIsKnown) {
  Watched watched;
  watched.settings.subspace.directions = 2;
  watched.settings.subspace.max_rank = 1;
  watched.settings.subspace.warm_up = 18;
  Watcher watcher(watched.board, watched.settings);
  const auto scored = [&](const std::string& pid) {
    const std::string score = "pingloom_collector_anomaly_score{host=\"h1\",application=\"queue\"";
    return metricsOf(watcher).find(score + ",pid=\"" + pid + "\"") != std::string::npos;
  };
  ASSERT_TRUE(eventually([&] {
    watched.publish(10);
    return scored("42");
  }));
  watched.page.restart();
  // So many samples are too few to learn anything from, even if each of them is taken.
  int samples = 10;
  EXPECT_TRUE(eventually([&] { return scored("43"); },
                         [&] {
                           if (samples-- > 0) watched.publish(10, 2);  // its agent restarted too
                           std::this_thread::sleep_for(std::chrono::milliseconds(150));
                         }));
}

// Whether the application has a score, which it does not have while it is learned.
bool scored(const Watcher& watcher) {
  return metricsOf(watcher).find("pingloom_collector_anomaly_score{host=\"h1\"") !=
         std::string::npos;
}

TEST(Watcher, whatItKnowsOutlivesIt) {
  const test::TemporaryDirectory directory;
  const auto file = directory.path() / "analytics";
  Watched watched;
  watched.settings.subspace.directions = 2;
  watched.settings.subspace.max_rank = 1;
  watched.settings.subspace.warm_up = 18;
  {
    Watcher watcher(watched.board, watched.settings, file);
    EXPECT_THAT(metricsOf(watcher),
                testing::HasSubstr("pingloom_collector_analytics_saved_timestamp_seconds 0\n"));
    ASSERT_TRUE(eventually([&] {
      watched.publish(10);
      return scored(watcher);
    }));
  }
  // So many samples are too few to learn anything from, even if each of them is taken.
  const auto knows = [&](Watcher& watcher) {
    int samples = 10;
    return eventually([&] { return samples == 0 || scored(watcher); },
                      [&] {
                        watched.publish(10);
                        --samples;
                        std::this_thread::sleep_for(std::chrono::milliseconds(150));
                      }) &&
           scored(watcher);
  };
  {
    Watcher watcher(watched.board, watched.settings, file);
    EXPECT_TRUE(knows(watcher));
  }
  {
    Watcher watcher(watched.board, watched.settings);
    EXPECT_FALSE(knows(watcher)) << "without a file";
  }
  watched.settings.subspace.factor = 8;
  Watcher watcher(watched.board, watched.settings, file);
  EXPECT_FALSE(knows(watcher)) << "with other settings";
}

TEST(WatchShelf, replicasGetTheirOwnBack) {
  const ShelfKey key{"h1", "queue", 0};
  WatchShelf shelf;
  const auto put = [&](std::uint64_t owner) {
    shelf.put(key, {std::make_shared<std::string>(std::to_string(owner)), 3, 2, kSecond, owner});
  };
  for (const std::uint64_t owner : {10, 11, 12}) put(owner);
  EXPECT_EQ(shelf.features(), 9U);
  EXPECT_EQ(*shelf.take(key, 11), "11");
  EXPECT_EQ(*shelf.take(key, 99), "12") << "the newest, for one that is new";
  EXPECT_EQ(*shelf.take(key, 10), "10");
  EXPECT_EQ(shelf.take(key, 10), nullptr);
  EXPECT_EQ(shelf.features(), 0U);
  EXPECT_EQ(shelf.historyFeatures(), 0U);
}

TEST(Watcher, goesOnWithoutItsFile) {
  const test::TemporaryDirectory directory;
  const auto file = directory.path() / "none" / "analytics";
  Watched watched;
  { const Watcher watcher(watched.board, watched.settings, file); }
  ASSERT_TRUE(makeDirectories(file.parent_path()));
  ASSERT_TRUE(writeFileAtomic(file, "nonsense"));
  { const Watcher watcher(watched.board, watched.settings, file); }
  EXPECT_THAT(*readFile(file, 1000), testing::StartsWith("pingloom analytics "));
  EXPECT_EQ(*readFile(file.native() + ".old", 1000), "nonsense");
}

TEST(Watcher, exportsQuietOwnersNowAndThen) {
  Board board;
  WatchedPage page;
  WatchSettings settings = quickSettings();
  settings.interval = kHour;  // it looks once, when it is made
  settings.sampler.hold = kSecond;
  page.next(1);
  board.add("10.0.0.1:20714")->update([&](AgentView& view) {
    view.host = "h1";
    view.pages = {page.view()};
  });
  Watcher watcher(board, settings);
  const std::string shown =
      "pingloom_collector_anomalous{host=\"h1\",application=\"queue\",pid=\"42\"} 0\n";
  ASSERT_TRUE(eventually([&] { return metricsOf(watcher).find(shown) != std::string::npos; }))
      << metricsOf(watcher);
  const auto exported = [&](Nanos now) {
    AgentView agent = board.entries().front()->copy();
    watcher.keepExported(agent, now);
    return agent.pages.size();
  };
  // Not known well enough: all of it.
  EXPECT_EQ(exported(kSecond), 1U);
  EXPECT_EQ(exported(2 * kSecond), 1U);
  EXPECT_THAT(watcher.events(), testing::IsEmpty());
}

TEST(Watcher, knowsTheStateOfAnApplication) {
  Board board;
  WatchedPage page;
  page.next(1);
  WatchSettings settings = quickSettings();
  settings.interval = 100 * kMillisecond;
  settings.limits.push_back(
      {"jobs_total", analytics::ThresholdRule::Side::kAbove, 50, {.raise = 1, .window = 1}});
  const auto entry = board.add("10.0.0.1:20714");
  const auto publish = [&](std::uint64_t jobs) {
    page.next(jobs);
    entry->update([&](AgentView& view) {
      view.host = "h1";
      view.pages = {page.view()};
    });
  };
  Watcher watcher(board, settings);
  EXPECT_FALSE(watcher.stateOf("queue").known);
  ASSERT_TRUE(eventually([&] {
    publish(1);
    return watcher.stateOf("queue").known;
  }));
  EXPECT_THAT(watcher.stateOf("queue").anomalous_hosts, testing::IsEmpty());
  EXPECT_TRUE(eventually([&] {
    publish(100);
    return watcher.stateOf("queue").anomalous_hosts.count("h1") == 1;
  }));
  EXPECT_FALSE(watcher.stateOf("other").known);
}

// An agent's own pages have seven features for each of its pairs: thousands of them are more than
// one detector takes.
TEST(Watcher, watchesAnOwnerWithMoreSlotsThanADetectorTakes) {
  constexpr std::size_t kPages = 10;  // of 500 slots
  Board board;
  std::vector<WatchedPage> pages(kPages, WatchedPage(499));
  WatchSettings settings = quickSettings();
  settings.interval = kHour;  // it looks once, when it is made
  board.add("10.0.0.1:20714")->update([&](AgentView& view) {
    view.host = "h1";
    for (WatchedPage& page : pages) {
      page.next(1);
      view.pages.push_back(page.view());
    }
  });
  Watcher watcher(board, settings);
  const std::string shown =
      "pingloom_collector_anomalous{host=\"h1\",application=\"queue\",pid=\"42\"} 0\n";
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  while (metricsOf(watcher).find(shown) == std::string::npos) {
    ASSERT_LT(std::chrono::steady_clock::now(), until) << metricsOf(watcher);
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  EXPECT_THAT(metricsOf(watcher),
              testing::HasSubstr("pingloom_collector_unwatched_applications 0\n"));
  AgentView agent = board.entries().front()->copy();
  watcher.keepExported(agent, kSecond);
  EXPECT_EQ(agent.pages.size(), kPages);
}

TEST(OwnerWatch, anApplicationsOwnSettingsAreUsed) {
  WatchedPage page;
  WatchSettings settings;
  settings.subspace.warm_up = 300;
  settings.applications["queue"] = settings.subspace;
  settings.applications["queue"].warm_up = 1200;
  const auto own = OwnerWatch::make(page.next(1), settings);
  settings.applications.clear();
  const auto usual = OwnerWatch::make(page.next(1), settings);
  ASSERT_TRUE(own != nullptr && usual != nullptr);
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
}  // namespace pingloom::collector::watch_test
