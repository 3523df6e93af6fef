#include "cluster_bench.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <thread>

#include "cluster_answers.h"
#include "common/duration.h"
#include "fleet.h"
#include "program_cpu.h"
#include "shared/clocks.h"
#include "shared_history.h"

namespace pingloom::bench {
namespace {

constexpr double kMiB = 1024 * 1024;

void sleepFor(Nanos duration) {
  if (duration > 0) std::this_thread::sleep_for(std::chrono::nanoseconds(duration));
}

}  // namespace

Status ClusterBench::begin(std::size_t controllers) {
  shape_ = shapeOf(options_.rows, options_.window);
  const bool shared = controllers > 1;
  if (shared) {
    auto redis = SharedRedis::start();
    if (!redis) return tl::unexpected(redis.error());
    redis_ = std::move(*redis);
  }
  const std::string history = shared ? "history: { postgres: { hosts: [" + options_.postgres +
                                           "], database: postgres, user: postgres } }\n"
                                     : std::string();
  for (std::size_t i = 0; i < controllers; ++i) {
    auto& made = controllers_.emplace_back(std::make_unique<ControllerProcess>(
        builtController(), udpPinglist(options_.agents, options_.rows, options_.window), history));
    if (shared && i == 0) {
      if (auto status = made->initHistory(); !status) return status;
    }
    if (shared) {
      made->joinCluster(fmt::format("c{}", i));
      made->useRedis(redis_->target());
    }
    if (auto status = made->start(); !status) return status;
    shape_.controllers.push_back(made->address());
  }
  fleet_.emplace(shape_, options_.agents);
  const Nanos start = monotonicNow();
  if (auto status = fleet_->startAll(); !status) return status;
  const auto took =
      fleet_->waitUntil("all registered", kMaxRecovery, [&] { return fleet_->allReady(); });
  if (!took) return tl::unexpected(took.error());
  figures_.add(fmt::format("{}: first registration of all", shared ? "several" : "one"), "ms",
               toMilliseconds(monotonicNow() - start));
  sleepFor(3 * kSecond);  // agents that are not home yet move
  return {};
}

void ClusterBench::end() {
  fleet_.reset();
  controllers_.clear();
  redis_.reset();
}

Status ClusterBench::drain() {
  const auto took = fleet_->waitUntil("all batches acknowledged", kMaxRecovery,
                                      [&] { return fleet_->nothingWaits(); });
  return took ? Status() : tl::unexpected(took.error());
}

// All agents close their windows at the same moment, as in use: windows are aligned.
Result<ClusterBench::Cost> ClusterBench::commitRows(const std::string& who) {
  const auto now = [&] {
    return std::vector<Nanos>{cpuOfProgram("pingloom-contro"), cpuOfProgram("redis-server"),
                              cpuOfProgram("postgres")};
  };
  const auto before = now();
  for (int i = 0; i < options_.windows; ++i) {
    const Nanos start = monotonicNow();
    if (auto status = fleet_->closeWindows(); !status) return tl::unexpected(status.error());
    if (auto status = drain(); !status) return tl::unexpected(status.error());
    figures_.add(who + ": committed while a window drains", "rows/s",
                 static_cast<double>(pairs()) / toSeconds(monotonicNow() - start));
    sleepFor(start + options_.window - monotonicNow());
  }
  sleepFor(kSecond);
  const auto after = now();
  const double million = static_cast<double>(pairs()) * options_.windows / 1e6;
  Cost cost;
  for (std::size_t i = 0; i < after.size(); ++i) {
    const char* program = i == 0 ? "controllers" : i == 1 ? "Redis" : "PostgreSQL";
    const double each = toSeconds(after[i] - before[i]) / million;
    figures_.add(who + ": CPU of " + program, "s per million rows", each);
    if (i == 0) cost.controllers = each;
    cost.all += each;
  }
  figures_.add(who + ": CPU of all", "s per million rows", cost.all);
  for (const Controller& each : controllers_) {
    figures_.add(who + ": memory of a controller", "MiB",
                 static_cast<double>(each->usage().resident_bytes) / kMiB);
  }
  return cost;
}

// Measures one controller and then several, which it leaves running. The machine's speed changes
// within minutes, so only figures that were taken right after each other can be compared.
Status ClusterBench::compare() {
  if (auto status = begin(1); !status) return status;
  const auto one = commitRows("one");
  if (!one) return tl::unexpected(one.error());
  end();
  if (auto status = begin(options_.controllers); !status) return status;
  const auto several = commitRows("several");
  if (!several) return tl::unexpected(several.error());
  figures_.add("rows for a CPU second, several to one", "", one->all / several->all);
  figures_.add("controllers' CPU for a row, several to one", "",
               several->controllers / one->controllers);
  return {};
}

Status ClusterBench::checkAll() {
  if (auto status = drain(); !status) return status;
  if (auto status = fleet_->closeWindows(); !status) return status;
  for (const Controller& each : controllers_) {
    const auto whole = fleet_->waitUntil("each controller shows each pair", kMaxRecovery,
                                         [&] { return shownPairs(*each) == pairs(); });
    if (!whole) return tl::unexpected(whole.error());
  }
  if (auto status = drain(); !status) return status;
  const auto history = readSharedHistory(options_.postgres);
  if (!history) return tl::unexpected(history.error());
  const std::uint64_t closed = fleet_->batchesClosed();
  figures_.add("history: batches closed", "", static_cast<double>(closed));
  figures_.add("history: batches in it", "", static_cast<double>(history->windows));
  figures_.add("history: distinct batches in it", "", static_cast<double>(history->distinct));
  if (history->windows != closed || history->distinct != closed) {
    return makeError("history", fmt::format("{} batches closed, {} in it, {} distinct", closed,
                                            history->windows, history->distinct));
  }
  return {};
}

Status ClusterBench::run() {
  fmt::print("{} agents, {} rows of {} samples each per window of {}\n", options_.agents,
             options_.rows, kSamples, formatDuration(options_.window));
  if (auto status = expectNoTables(options_.postgres); !status) return status;
  for (int i = 0; i < options_.rounds; ++i) {
    if (i > 0) {
      end();
      if (auto status = emptySharedHistory(options_.postgres); !status) return status;
    }
    if (auto status = compare(); !status) return status;
  }
  if (options_.changes > 0) {
    if (auto status = showChanges(); !status) return status;
  }
  for (int i = 0; i < options_.restarts; ++i) {
    if (auto status = restartAgents(); !status) return status;
  }
  for (int i = 0; i < options_.kills; ++i) {
    if (auto status = killOne(i); !status) return status;
  }
  for (int i = 0; i < options_.upgrades; ++i) {
    if (auto status = upgradeAll(); !status) return status;
  }
  if (auto status = checkAll(); !status) return status;
  figures_.print();
  return {};
}

}  // namespace pingloom::bench
