#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <vector>

#include "collector/watch/watcher.h"
#include "unit/eventually.h"
#include "watched_page.h"

namespace pingloom::collector::watcher_peers_test {
namespace {

using test::eventually;
using watched::kOwner;
using watched::quickSettings;
using watched::WatchedPage;

// Six replicas on one host, of which the third has a gauge that is far too high.
struct SixReplicas {
  SixReplicas() {
    settings.interval = kMillisecond;
    settings.subspace.warm_up = 1'000'000;  // only the comparison judges
    for (std::size_t i = 0; i < pages.size(); ++i) {
      auto info = std::make_shared<PageInfo>(*pages[i].view().info);
      info->owner += i;
      pages[i].view().info = info;
    }
  }
  void publish() {
    std::vector<PageView> views;
    for (std::size_t i = 0; i < pages.size(); ++i) {
      views.push_back(*pages[i].next(10, i == 2 ? 3 : 0).front());
    }
    entry->update([&](AgentView& view) {
      view.host = "h1";
      view.pages = views;
    });
  }
  // Whether the third one is anomalous, and no other, after another sample.
  bool isFound(const Watcher& watcher) {
    publish();
    const AgentView agent = board.entries().front()->copy();
    const auto anomalies = watcher.anomalies(agent);
    return anomalies.size() == 1 && anomalies.front().owner == kOwner + 2;
  }
  bool isNotFound(const Watcher& watcher) {
    publish();
    return watcher.stateOf("queue").anomalous_hosts.empty();
  }
  Board board;
  std::shared_ptr<BoardEntry> entry = board.add("10.0.0.1:20714");
  std::array<WatchedPage, 6> pages;
  WatchSettings settings = quickSettings();
};

TEST(WatcherPeers, aReloadAppliesSettingsToReplicasAsTheyAre) {
  SixReplicas replicas;
  Watcher watcher(replicas.board, replicas.settings);
  ASSERT_TRUE(eventually([&] { return replicas.isFound(watcher); }));
  const auto logged = watcher.eventsLogged();
  WatchSettings lenient = replicas.settings;
  lenient.peers.limit = 1000;
  watcher.reload(lenient);
  EXPECT_TRUE(eventually([&] { return replicas.isNotFound(watcher); }));
  EXPECT_EQ(watcher.eventsLogged(), logged + 1) << "its anomaly ends";
  watcher.reload(replicas.settings);
  EXPECT_TRUE(eventually([&] { return replicas.isFound(watcher); }));
  lenient = replicas.settings;
  lenient.applications["queue"] = {lenient.subspace, {.enabled = false}};
  watcher.reload(lenient);
  EXPECT_TRUE(eventually([&] { return replicas.isNotFound(watcher); }));
  EXPECT_EQ(watcher.events().back().began, false);
}

}  // namespace
}  // namespace pingloom::collector::watcher_peers_test
