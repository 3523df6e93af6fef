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
#include "common/fd.h"
#include "common/log.h"
#include "common/program.h"
#include "controller_counts.h"
#include "fleet.h"
#include "fleet_processes.h"
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
  Result<double> committedRows() const;
  std::filesystem::path history() const { return controller_.state() / "history.sqlite"; }
  void addCosts(double rows, Nanos controller, Nanos redis);
  Status addOld(const OldBlocks& before);

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

// The first window is not counted, because it makes each pair known.
Status SteadyBench::watch() {
  if (auto status = fleet_->keepClosing(true); !status) return status;
  const double window_rows = double{1.0} * options_.agents * options_.rows;
  fmt::print(stderr, "fleet_steady: {} s with {:.0f} rows/s\n", options_.seconds,
             window_rows / toSeconds(options_.window));
  std::this_thread::sleep_for(std::chrono::nanoseconds(2 * options_.window));
  const auto old = countOld(history(), utcNow());
  if (!old) return tl::unexpected(old.error());
  const auto due = windowsToRollUp(history(), utcNow());
  if (!due) return tl::unexpected(due.error());
  figures_.add("windows of all agents that wait to be rolled up at the beginning", "",
               static_cast<double>(*due) / options_.agents);
  const Nanos began = monotonicNow();
  const auto first = committedRows();
  if (!first) return tl::unexpected(first.error());
  const Nanos cpu_before = controller_.usage().cpu;
  const Nanos redis_before = cpuOfProgram("redis-server");
  double last = *first;
  double waiting = 0;
  while (monotonicNow() - began < options_.seconds * kSecond) {
    const Nanos turn = monotonicNow();
    std::this_thread::sleep_for(std::chrono::nanoseconds(options_.window));
    const auto rows = committedRows();
    if (!rows) return tl::unexpected(rows.error());
    figures_.add("committed in a window's time", "rows/s",
                 (*rows - last) / toSeconds(monotonicNow() - turn));
    last = *rows;
    waiting = static_cast<double>(fleet_->batchesClosed()) / options_.agents - *rows / window_rows;
    figures_.add("windows of all agents that wait", "", std::max(waiting, 0.0));
  }
  figures_.add("committed over the whole time", "rows/s",
               (last - *first) / toSeconds(monotonicNow() - began));
  addCosts(last - *first, controller_.usage().cpu - cpu_before,
           cpuOfProgram("redis-server") - redis_before);
  if (auto status = addOld(*old); !status) return status;
  figures_.add("controller's resident memory", "MiB",
               static_cast<double>(controller_.usage().resident_bytes) / kMiB);
  return fleet_->keepClosing(false);
}

Status SteadyBench::addOld(const OldBlocks& before) {
  const auto due = windowsToRollUp(history(), utcNow());
  if (!due) return tl::unexpected(due.error());
  const auto after = countOld(history(), utcNow());
  if (!after) return tl::unexpected(after.error());
  const auto of_all = [&](std::uint64_t blocks) {
    return static_cast<double>(blocks) / options_.agents;
  };
  figures_.add("windows of all agents rolled up", "", of_all(before.windows - after->windows));
  figures_.add("minutes of all agents trimmed", "", of_all(before.minutes - after->minutes));
  figures_.add("windows of all agents that wait to be rolled up at the end", "", of_all(*due));
  return {};
}

void SteadyBench::addCosts(double rows, Nanos controller, Nanos redis) {
  figures_.add("controller's CPU", "s per million rows", toSeconds(controller) / rows * 1e6);
  figures_.add("redis-server's CPU", "s per million rows", toSeconds(redis) / rows * 1e6);
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
  log::init("fleet_steady", log::Level::kError);
  raiseDescriptorLimit();
  if (const auto status = SteadyBench(options).run(); !status) {
    std::cerr << "fleet_steady: " << status.error().text() << "\n";
    return 1;
  }
  return 0;
}

}  // namespace
}  // namespace pingloom::bench

int main(int argc, char** argv) {
  return pingloom::bench::main(std::vector<std::string>(argv + 1, argv + argc));
}
