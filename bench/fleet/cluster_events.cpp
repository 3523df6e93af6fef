// What happens to the fleet and its controllers in the benchmark.
#include <algorithm>
#include <chrono>
#include <thread>

#include "cluster_answers.h"
#include "cluster_bench.h"
#include "live_viewer.h"
#include "shared/clocks.h"
#include "verdict_watch.h"

namespace pingloom::bench {
namespace {

// The time in which agents that have registered elsewhere come back to a controller.
constexpr std::chrono::seconds kComeBack{6};

}  // namespace

// Kills all agents and starts them again, while each has a window to deliver.
Status ClusterBench::restartAgents() {
  if (auto status = fleet_->closeWindows(); !status) return status;
  if (auto status = fleet_->killAll(); !status) return status;
  const Nanos start = monotonicNow();
  if (auto status = fleet_->startAll(); !status) return status;
  const auto home =
      fleet_->waitUntil("all registered again", kMaxRecovery, [&] { return fleet_->allReady(); });
  if (!home) return tl::unexpected(home.error());
  figures_.add("all agents restarted: all registered after", "ms",
               toMilliseconds(monotonicNow() - start));
  if (auto status = drain(); !status) return status;
  figures_.add("all agents restarted: all rows committed after", "ms",
               toMilliseconds(monotonicNow() - start));
  std::this_thread::sleep_for(std::chrono::seconds(3));  // agents that are not home yet move
  return {};
}

// Kills a controller, the leader in the first round, after its agents have closed a window, and
// starts it again once all is well.
Status ClusterBench::killOne(int round) {
  auto victim = std::find_if(controllers_.begin(), controllers_.end(),
                             [&](const Controller& each) { return leads(*each) == (round == 0); });
  if (victim == controllers_.end()) return makeError("controllers", "nobody leads");
  const auto other = std::find_if(controllers_.begin(), controllers_.end(),
                                  [&](const Controller& each) { return each != *victim; });
  if (auto status = fleet_->closeWindows(); !status) return status;
  const Nanos start = monotonicNow();
  (*victim)->kill();
  Nanos led_after = -1;
  const auto led_again = [&] {
    if (led_after >= 0) return true;
    for (const Controller& each : controllers_) {
      if (each != *victim && leads(*each)) led_after = monotonicNow() - start;
    }
    return led_after >= 0;
  };
  const auto home = fleet_->waitUntil("all registered again", kMaxRecovery, [&] {
    return led_again() && fleet_->allReady() && monotonicNow() - start > kSecond;
  });
  if (!home) return tl::unexpected(home.error());
  figures_.add("a controller killed: another one leads after", "ms", toMilliseconds(led_after));
  figures_.add("a controller killed: all agents registered after", "ms", toMilliseconds(*home));
  if (auto status = drain(); !status) return status;
  figures_.add("a controller killed: all rows committed after", "ms",
               toMilliseconds(monotonicNow() - start));
  if (auto status = fleet_->closeWindows(); !status) return status;
  const auto whole = fleet_->waitUntil("a survivor shows each pair", kMaxRecovery,
                                       [&] { return shownPairs(**other) == pairs(); });
  if (!whole) return tl::unexpected(whole.error());
  if (auto status = (*victim)->start(); !status) return status;
  std::this_thread::sleep_for(kComeBack);
  return {};
}

// Stops each controller in turn and starts it again, the leader last, as an operator upgrades them,
// while windows close as usual.
Status ClusterBench::upgradeAll() {
  if (auto status = fleet_->keepClosing(true); !status) return status;
  std::this_thread::sleep_for(std::chrono::nanoseconds(2 * options_.window));
  std::vector<ControllerProcess*> order;
  for (const Controller& each : controllers_) order.push_back(each.get());
  std::stable_partition(order.begin(), order.end(),
                        [](const ControllerProcess* each) { return !leads(*each); });
  for (ControllerProcess* each : order) {
    if (auto status = upgradeOne(*each); !status) return status;
  }
  if (auto status = fleet_->keepClosing(false); !status) return status;
  return drain();
}

Status ClusterBench::upgradeOne(ControllerProcess& upgraded) {
  std::vector<const ControllerProcess*> others;
  for (const Controller& each : controllers_) {
    if (each.get() != &upgraded) others.push_back(each.get());
  }
  VerdictWatch watch(others, pairs());
  const bool led = leads(upgraded);
  const Nanos start = monotonicNow();
  upgraded.stop();
  figures_.add("a controller upgraded: it has ended after", "ms",
               toMilliseconds(monotonicNow() - start));
  if (led) {
    const auto again = fleet_->waitUntil("another one leads", kMaxRecovery, [&] {
      return std::any_of(others.begin(), others.end(),
                         [](const ControllerProcess* each) { return leads(*each); });
    });
    if (!again) return tl::unexpected(again.error());
    figures_.add("a controller upgraded: another one leads after", "ms",
                 toMilliseconds(monotonicNow() - start));
  }
  const auto home =
      fleet_->waitUntil("all registered again", kMaxRecovery, [&] { return fleet_->allReady(); });
  if (!home) return tl::unexpected(home.error());
  figures_.add("a controller upgraded: all agents registered after", "ms",
               toMilliseconds(monotonicNow() - start));
  if (auto status = upgraded.start(); !status) return status;
  const auto whole = fleet_->waitUntil("it shows each pair again", kMaxRecovery,
                                       [&] { return shownPairs(upgraded) == pairs(); });
  if (!whole) return tl::unexpected(whole.error());
  figures_.add("a controller upgraded: it shows each pair again after", "ms",
               toMilliseconds(monotonicNow() - start));
  std::this_thread::sleep_for(kComeBack);
  figures_.add(std::string("a controller upgraded, ") + (led ? "the leader" : "no leader") +
                   ": longest without a verdict on all pairs",
               "ms", toMilliseconds(watch.end()));
  return {};
}

// The pairs of one agent after the other begin to lose everything while nothing else happens.
Status ClusterBench::showChanges() {
  std::vector<std::unique_ptr<LiveViewer>> viewers;
  for (const Controller& each : controllers_) {
    viewers.push_back(std::make_unique<LiveViewer>(each->url(), options_.rows));
  }
  const auto all = [&](bool (*is)(const LiveViewer&)) {
    return std::all_of(viewers.begin(), viewers.end(),
                       [is](const auto& viewer) { return is(*viewer); });
  };
  const auto synced = fleet_->waitUntil("all viewers are in sync", kMaxRecovery, [&] {
    return all([](const LiveViewer& viewer) { return viewer.inSync(); });
  });
  if (!synced) return tl::unexpected(synced.error());
  for (int i = 0; i < options_.changes; ++i) {
    const std::uint32_t agent = static_cast<std::uint32_t>(i) * options_.agents /
                                static_cast<std::uint32_t>(options_.changes);
    for (const auto& viewer : viewers) viewer->expectLoss(agent);
    const Nanos start = monotonicNow();
    if (auto status = fleet_->loseWindow(agent); !status) return status;
    const auto seen = fleet_->waitUntil("a change is at all viewers", kMaxRecovery, [&] {
      return all([](const LiveViewer& viewer) { return viewer.seen() != 0; });
    });
    if (!seen) return tl::unexpected(seen.error());
    Nanos last = start;
    for (const auto& viewer : viewers) last = std::max(last, viewer->seen());
    figures_.add("a pair's change, from its window's end to the viewers of all controllers", "ms",
                 toMilliseconds(last - start));
  }
  return drain();
}

}  // namespace pingloom::bench
