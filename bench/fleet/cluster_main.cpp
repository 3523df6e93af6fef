// The same fleet of agents against one controller with SQLite and its own Redis, and against
// several that share a history in PostgreSQL and a Redis: what a row costs all processes, what the
// loss of a controller costs, and whether every batch is in the history once. Needs a PostgreSQL
// server without tables of pingloom's:
//
//     tests/integration/postgres.py build/release/bin/fleet_cluster
#include <fmt/format.h>

#include <algorithm>
#include <boost/program_options/value_semantic.hpp>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cluster_answers.h"
#include "common/duration.h"
#include "common/fd.h"
#include "common/log.h"
#include "common/program.h"
#include "fleet.h"
#include "program_cpu.h"
#include "shared/clocks.h"
#include "shared/controller_process.h"
#include "shared/figures.h"
#include "shared_history.h"
#include "shared_redis.h"

namespace pingloom::bench {
namespace {

constexpr Nanos kMaxRecovery = 120 * kSecond;

struct Options {
  std::uint32_t agents = 700;
  std::uint32_t rows = 200;
  std::uint32_t controllers = 3;
  Nanos window = 2 * kSecond;
  int windows = 5;
  int kills = 3;
  int restarts = 0;
  std::string postgres;  // the folder of its socket
};

class Bench {
 public:
  explicit Bench(Options options) : options_(std::move(options)) {}
  ~Bench() { end(); }
  Bench(const Bench&) = delete;
  Bench& operator=(const Bench&) = delete;
  Status run();

 private:
  Status begin(std::size_t controllers);
  void end();
  Status drain();
  Status commitRows(const std::string& who);
  Status killOne(int round);
  Status restartAgents();
  Status checkAll();

  Options options_;
  FleetShape shape_;
  std::vector<std::unique_ptr<ControllerProcess>> controllers_;
  std::unique_ptr<SharedRedis> redis_;  // of several controllers
  std::optional<Fleet> fleet_;
  std::vector<double> cost_;  // CPU seconds of all processes for a million rows
  Figures figures_;
};

Status Bench::begin(std::size_t controllers) {
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
  if (auto status = fleet_->startAll(); !status) return status;
  const auto took = fleet_->serveUntil("all registered", kMaxRecovery, [&] {
    return fleet_->allRegistered() && fleet_->allHavePlan(1);
  });
  if (!took) return tl::unexpected(took.error());
  figures_.add(fmt::format("{}: first registration of all", shared ? "several" : "one"), "ms",
               toMilliseconds(*took));
  fleet_->serveFor(3 * kSecond);  // agents that are not home yet move
  return {};
}

void Bench::end() {
  fleet_.reset();
  controllers_.clear();
  redis_.reset();
}

Status Bench::drain() {
  const auto took = fleet_->serveUntil("all batches acknowledged", kMaxRecovery,
                                       [&] { return fleet_->nothingWaits(); });
  return took ? Status() : tl::unexpected(took.error());
}

// All agents close their windows at the same moment, as in use: windows are aligned.
Status Bench::commitRows(const std::string& who) {
  const auto now = [&] {
    return std::vector<Nanos>{cpuOfProgram("pingloom-contro"), cpuOfProgram("redis-server"),
                              cpuOfProgram("postgres")};
  };
  const auto before = now();
  for (int i = 0; i < options_.windows; ++i) {
    const Nanos start = monotonicNow();
    fleet_->closeWindows();
    if (auto status = drain(); !status) return status;
    figures_.add(who + ": committed while a window drains", "rows/s",
                 double{1.0} * options_.agents * options_.rows / toSeconds(monotonicNow() - start));
    fleet_->serveFor(std::max<Nanos>(0, start + options_.window - monotonicNow()));
  }
  fleet_->serveFor(kSecond);
  const auto after = now();
  const double million = double{1.0} * options_.windows * options_.agents * options_.rows / 1e6;
  double sum = 0;
  for (std::size_t i = 0; i < after.size(); ++i) {
    const char* program = i == 0 ? "controllers" : i == 1 ? "Redis" : "PostgreSQL";
    const double each = toSeconds(after[i] - before[i]) / million;
    figures_.add(who + ": CPU of " + program, "s per million rows", each);
    sum += each;
  }
  cost_.push_back(sum);
  figures_.add(who + ": CPU of all", "s per million rows", sum);
  return {};
}

// Kills a controller, the leader in the first round, after its agents have closed a window, and
// starts it again once all is well.
Status Bench::killOne(int round) {
  auto victim = std::find_if(controllers_.begin(), controllers_.end(),
                             [&](const auto& each) { return leads(*each) == (round == 0); });
  if (victim == controllers_.end()) return makeError("controllers", "nobody leads");
  const auto other = std::find_if(controllers_.begin(), controllers_.end(),
                                  [&](const auto& each) { return each != *victim; });
  fleet_->closeWindows();
  const Nanos start = monotonicNow();
  (*victim)->kill();
  Nanos led_after = -1;
  const auto led_again = [&] {
    if (led_after >= 0) return true;
    for (const auto& each : controllers_) {
      if (each != *victim && leads(*each)) led_after = monotonicNow() - start;
    }
    return led_after >= 0;
  };
  const auto home = fleet_->serveUntil("all registered again", kMaxRecovery, [&] {
    return led_again() && fleet_->allRegistered() && monotonicNow() - start > kSecond;
  });
  if (!home) return tl::unexpected(home.error());
  figures_.add("a controller killed: another one leads after", "ms", toMilliseconds(led_after));
  figures_.add("a controller killed: all agents registered after", "ms", toMilliseconds(*home));
  if (auto status = drain(); !status) return status;
  figures_.add("a controller killed: all rows committed after", "ms",
               toMilliseconds(monotonicNow() - start));
  fleet_->closeWindows();
  const std::uint64_t pairs = std::uint64_t{1} * options_.agents * options_.rows;
  const auto whole = fleet_->serveUntil("a survivor shows each pair", kMaxRecovery,
                                        [&] { return shownPairs(**other) == pairs; });
  if (!whole) return tl::unexpected(whole.error());
  if (auto status = (*victim)->start(); !status) return status;
  fleet_->serveFor(6 * kSecond);  // its share of the agents comes back
  return {};
}

// Kills all agents and starts them again, while each has a window to deliver.
Status Bench::restartAgents() {
  fleet_->closeWindows();
  fleet_->killAll();
  const Nanos start = monotonicNow();
  if (auto status = fleet_->startAll(); !status) return status;
  const auto home = fleet_->serveUntil("all registered again", kMaxRecovery, [&] {
    return fleet_->allRegistered() && fleet_->allHavePlan(1);
  });
  if (!home) return tl::unexpected(home.error());
  figures_.add("all agents restarted: all registered after", "ms",
               toMilliseconds(monotonicNow() - start));
  if (auto status = drain(); !status) return status;
  figures_.add("all agents restarted: all rows committed after", "ms",
               toMilliseconds(monotonicNow() - start));
  fleet_->serveFor(3 * kSecond);  // agents that are not home yet move
  return {};
}

Status Bench::checkAll() {
  if (auto status = drain(); !status) return status;
  fleet_->closeWindows();
  const std::uint64_t pairs = std::uint64_t{1} * options_.agents * options_.rows;
  for (const auto& each : controllers_) {
    const auto whole = fleet_->serveUntil("each controller shows each pair", kMaxRecovery,
                                          [&] { return shownPairs(*each) == pairs; });
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

Status Bench::run() {
  fmt::print("{} agents, {} rows of {} samples each per window of {}\n", options_.agents,
             options_.rows, kSamples, formatDuration(options_.window));
  if (auto status = begin(1); !status) return status;
  if (auto status = commitRows("one"); !status) return status;
  end();
  if (auto status = begin(options_.controllers); !status) return status;
  if (auto status = commitRows("several"); !status) return status;
  figures_.add("rows for a CPU second, several to one", "", cost_[0] / cost_[1]);
  for (int i = 0; i < options_.restarts; ++i) {
    if (auto status = restartAgents(); !status) return status;
  }
  for (int i = 0; i < options_.kills; ++i) {
    if (auto status = killOne(i); !status) return status;
  }
  if (auto status = checkAll(); !status) return status;
  figures_.print();
  return {};
}

int main(const std::vector<std::string>& arguments) {
  namespace po = boost::program_options;
  Options options;
  if (const char* folder = std::getenv("PINGLOOM_TEST_POSTGRES")) options.postgres = folder;
  std::string window = formatDuration(options.window);
  po::options_description described("Options");
  described.add_options()("agents", po::value(&options.agents)->default_value(options.agents),
                          "how many agents to simulate, 1 to 16000")(
      "rows", po::value(&options.rows)->default_value(options.rows),
      "rows of each agent in a window, 1 to 10000")(
      "controllers", po::value(&options.controllers)->default_value(options.controllers),
      "how many controllers share the history, 2 to 16")(
      "window", po::value(&window)->default_value(window), "how long a window is")(
      "windows", po::value(&options.windows)->default_value(options.windows),
      "how many windows to measure")("kills",
                                     po::value(&options.kills)->default_value(options.kills),
                                     "how many controllers to kill, one after the other")(
      "restarts", po::value(&options.restarts)->default_value(options.restarts),
      "how often to restart all agents at once")(
      "postgres", po::value(&options.postgres)->default_value(options.postgres),
      "the folder of a PostgreSQL server's socket");
  const program::Usage usage{"fleet_cluster", "fleet_cluster [OPTIONS]",
                             "A fleet of agents against controllers that share a history."};
  po::variables_map values;
  if (const auto code = program::parse(usage, arguments, described, {}, values)) return *code;
  const auto length = parseDuration(window);
  if (!length || options.agents == 0 || options.agents > 16'000 || options.rows == 0 ||
      options.rows > 10'000 || options.windows < 1 || options.controllers < 2 ||
      options.controllers > 16 || options.postgres.empty()) {
    std::cerr << "fleet_cluster: see --help; a PostgreSQL server is needed\n";
    return program::kExitUsage;
  }
  options.window = *length;
  log::init("fleet_cluster", log::Level::kError);
  raiseDescriptorLimit();
  const auto status = Bench(options).run();
  if (!status) {
    std::cerr << "fleet_cluster: " << status.error().text() << "\n";
    return 1;
  }
  return 0;
}

}  // namespace
}  // namespace pingloom::bench

int main(int argc, char** argv) {
  return pingloom::bench::main(std::vector<std::string>(argv + 1, argv + argc));
}
