#include "collector/watch/watcher.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <thread>

#include "common/file.h"
#include "common/metrics_text.h"
#include "unit/common/temporary_directory.h"
#include "unit/eventually.h"
#include "watched_page.h"

namespace pingloom::collector::watcher_test {
namespace {

using test::eventually;
using watched::kOwner;
using watched::quickSettings;
using watched::WatchedPage;

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
  settings.applications["other"].subspace.factor = 8;
  watcher.reload(settings);
  EXPECT_THAT(metricsOf(watcher), testing::HasSubstr(shown));
  settings.applications["queue"].subspace = settings.subspace;
  settings.applications["queue"].peers.limit = 8;
  watcher.reload(settings);
  EXPECT_THAT(metricsOf(watcher), testing::HasSubstr(shown))
      << "how it is compared is no knowledge";
  settings.applications["queue"].subspace.factor = 8;
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

}  // namespace
}  // namespace pingloom::collector::watcher_test
