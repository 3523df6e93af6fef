// Runs a full mesh against one controller whose history is three hours old, in real time: each
// window of all agents arrives when it ends, is packed and committed, and at the same time windows
// of two hours ago are rolled up and minutes of three hours ago are trimmed.
#include <fmt/format.h>

#include <algorithm>
#include <boost/program_options/value_semantic.hpp>
#include <iostream>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "bare_zeromq.h"
#include "common/duration.h"
#include "common/program.h"
#include "controller_counts.h"
#include "fleet.h"
#include "fleet_processes.h"
#include "fleet_program.h"
#include "old_history.h"
#include "program_cpu.h"
#include "shared/clocks.h"
#include "shared/controller_process.h"
#include "shared/figures.h"

namespace pingloom::bench {
namespace {

constexpr Nanos kMaxRecovery = 120 * kSecond;
constexpr std::uint64_t kBareFrames = 20'000;
constexpr double kMiB = 1024 * 1024;

struct Options {
  std::uint32_t agents = 2000;
  std::uint32_t rows = 2500;
  Nanos window = 10 * kSecond;
  int seconds = 600;
};

class SteadyBench {
 public:
  explicit SteadyBench(Options options)
      : options_(options),
        shape_(shapeOf(options.rows, options.window)),
        controller_(builtController(), udpPinglist(options.agents, options.rows, options.window),
                    "history: { retention: 3h, max_size: 1000GiB }\n") {}
  Status run();

 private:
  Status begin();
  Status watch();
  // Counts since the controller's start, and the old blocks.
  struct Counts {
    Nanos mono = 0;
    double rows = 0;
    Nanos controller_cpu = 0;
    Nanos redis_cpu = 0;
    OldBlocks old;
  };
  Result<Counts> count() const;
  Result<double> committedRows() const;
  Status watchWindows(double rows);
  void add(const Counts& before, const Counts& after);
  std::filesystem::path history() const { return controller_.state() / "history.sqlite"; }
  double windowRows() const { return double{1.0} * options_.agents * options_.rows; }

  Options options_;
  FleetShape shape_;
  ControllerProcess controller_;
  std::optional<FleetProcesses> fleet_;
  Figures figures_;
};

// The controller's folder is there from the start, and its state folder is made like its own.
Status SteadyBench::begin() {
  std::error_code failed;
  std::filesystem::create_directories(controller_.state(), failed);
  std::filesystem::permissions(controller_.state(), std::filesystem::perms::owner_all, failed);
  if (failed) return makeError(controller_.state().string(), failed.message());
  const Nanos lasts = options_.seconds * kSecond + 4 * kMinute;  // with what comes before
  fmt::print(stderr, "fleet_steady: making {} of old windows\n", formatDuration(lasts));
  if (auto status = makeOldHistory(history(), shape_, options_.agents, utcNow(), lasts); !status) {
    return status;
  }
  if (auto status = controller_.start(); !status) return status;
  shape_.controllers = {controller_.address()};
  fleet_.emplace(shape_, options_.agents);
  if (auto status = fleet_->startAll(); !status) return status;
  const auto ready =
      fleet_->waitUntil("all registered", kMaxRecovery, [&] { return fleet_->allReady(); });
  if (!ready) return tl::unexpected(ready.error());
  return {};
}

Result<double> SteadyBench::committedRows() const {
  const auto counts = readCounts(controller_.url());
  if (!counts) return tl::unexpected(counts.error());
  return static_cast<double>(counts->rows_committed);
}

Result<SteadyBench::Counts> SteadyBench::count() const {
  const auto old = countOld(history(), utcNow());
  if (!old) return tl::unexpected(old.error());
  const auto rows = committedRows();
  if (!rows) return tl::unexpected(rows.error());
  return Counts{monotonicNow(), *rows, controller_.usage().cpu, cpuOfProgram("redis-server"), *old};
}

// The first window is not counted, because it makes each pair known.
Status SteadyBench::watch() {
  if (auto status = fleet_->keepClosing(true); !status) return status;
  fmt::print(stderr, "fleet_steady: {} s with {:.0f} rows/s\n", options_.seconds,
             windowRows() / toSeconds(options_.window));
  std::this_thread::sleep_for(std::chrono::nanoseconds(2 * options_.window));
  const auto before = count();
  if (!before) return tl::unexpected(before.error());
  if (auto status = watchWindows(before->rows); !status) return status;
  const auto after = count();
  if (!after) return tl::unexpected(after.error());
  add(*before, *after);
  return fleet_->keepClosing(false);
}

Status SteadyBench::watchWindows(double rows) {
  const Nanos until = monotonicNow() + options_.seconds * kSecond;
  while (monotonicNow() < until) {
    const Nanos turn = monotonicNow();
    std::this_thread::sleep_for(std::chrono::nanoseconds(options_.window));
    const auto committed = committedRows();
    if (!committed) return tl::unexpected(committed.error());
    figures_.add("committed in a window's time", "rows/s",
                 (*committed - rows) / toSeconds(monotonicNow() - turn));
    rows = *committed;
    const double closed = static_cast<double>(fleet_->batchesClosed()) / options_.agents;
    figures_.add("windows of all agents that wait", "",
                 std::max(closed - rows / windowRows(), 0.0));
  }
  return {};
}

void SteadyBench::add(const Counts& before, const Counts& after) {
  const double rows = after.rows - before.rows;
  const auto per_million = [&](Nanos cpu) { return toSeconds(cpu) / rows * 1e6; };
  const auto of_all = [&](std::uint64_t blocks) {
    return static_cast<double>(blocks) / options_.agents;
  };
  figures_.add("committed over the whole time", "rows/s",
               rows / toSeconds(after.mono - before.mono));
  figures_.add("controller's CPU", "s per million rows",
               per_million(after.controller_cpu - before.controller_cpu));
  figures_.add("redis-server's CPU", "s per million rows",
               per_million(after.redis_cpu - before.redis_cpu));
  figures_.add("windows of all agents that wait to be rolled up at the beginning", "",
               of_all(before.old.due));
  figures_.add("windows of all agents rolled up", "",
               of_all(before.old.windows - after.old.windows));
  figures_.add("minutes of all agents trimmed", "", of_all(before.old.minutes - after.old.minutes));
  figures_.add("windows of all agents that wait to be rolled up at the end", "",
               of_all(after.old.due));
  figures_.add("controller's resident memory", "MiB",
               static_cast<double>(controller_.usage().resident_bytes) / kMiB);
}

Status SteadyBench::run() {
  const auto bare = bareZeromq(shape_.row_bytes.size(), kBareFrames);
  if (!bare) return tl::unexpected(bare.error());
  figures_.add("limit: bare ZeroMQ with the same frames", "rows/s", *bare * options_.rows);
  if (auto status = begin(); !status) return status;
  if (auto status = watch(); !status) return status;
  figures_.print();
  return {};
}

int main(const std::vector<std::string>& arguments) {
  namespace po = boost::program_options;
  Options options;
  std::string window = formatDuration(options.window);
  po::options_description described("Options");
  described.add_options()("agents", po::value(&options.agents)->default_value(options.agents),
                          "how many agents to simulate, 1 to 2500")(
      "rows", po::value(&options.rows)->default_value(options.rows),
      "rows of each agent in a window, 1 to 10000")(
      "window", po::value(&window)->default_value(window),
      "how long a window is: a part of a minute, at least 2s")(
      "seconds", po::value(&options.seconds)->default_value(options.seconds),
      "how long to measure, at most 1200");
  const program::Usage usage{"fleet_steady", "fleet_steady [OPTIONS]",
                             "A full mesh in real time against a controller with old history."};
  po::variables_map values;
  if (const auto code = program::parse(usage, arguments, described, {}, values)) return *code;
  const auto length = parseDuration(window);
  if (!length || *length < 2 * kSecond || kMinute % *length != 0 || options.agents == 0 ||
      options.agents > FleetProcesses::kAgentsEach || options.rows == 0 || options.rows > 10'000 ||
      options.seconds < 1 || options.seconds > 1200) {
    std::cerr << "fleet_steady: see --help\n";
    return program::kExitUsage;
  }
  options.window = *length;
  return runFleet("fleet_steady", [&] { return SteadyBench(options).run(); });
}

}  // namespace
}  // namespace pingloom::bench

int main(int argc, char** argv) {
  return pingloom::bench::main(std::vector<std::string>(argv + 1, argv + argc));
}
