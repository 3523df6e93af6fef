// Runs 2,000 agents against one controller: the real control client of each, with made-up rows, in
// one process. Prints what the controller commits, how long acknowledgements take, how long a saved
// pinglist and a restarted agent's RDMA endpoint take to reach the last agent, and what mass
// restarts cost. Checks that every batch was counted once.
#include <fmt/format.h>

#include <algorithm>
#include <boost/program_options/value_semantic.hpp>
#include <cmath>
#include <cstdio>
#include <iostream>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bare_zeromq.h"
#include "common/duration.h"
#include "common/program.h"
#include "controller_counts.h"
#include "fleet.h"
#include "fleet_program.h"
#include "shared/clocks.h"
#include "shared/controller_process.h"
#include "shared/figures.h"
#include "shared/wait.h"

namespace pingloom::bench {
namespace {

constexpr Nanos kMaxRecovery = 120 * kSecond;
constexpr std::uint64_t kBareFrames = 20'000;
constexpr int kBatchesBeforeRestart = 3;
constexpr Nanos kLongWindow = 10 * kSecond;

struct Options {
  std::uint32_t agents = 2000;
  std::uint32_t rows = 100;
  Nanos window = 2 * kSecond;
  int windows = 10;
  int pushes = 5;
  int restarts = 10;
  std::string program;  // of the controller
  std::string control;  // of a controller that runs already
  std::string url;      // its HTTP
};

// `extra` destinations without rows make it another plan.
std::string pinglistText(const Options& options, std::uint32_t extra) {
  return fmt::format(
      "version: 1\ndefaults: {{ interval: 200ms, timeout: 100ms, window: {} }}\nprobes:\n"
      "  - name: {}\n    protocol: udp\n    from: {}\n    to: {}\n"
      "  - name: {}\n    protocol: rdma\n    mesh: {}\n",
      formatDuration(options.window), kProbeName, listOf(options.agents, agentAddress),
      listOf(options.rows + extra, destinationAddress), kRdmaProbeName,
      listOf(options.agents, agentAddress));
}

template <typename T>
T quantile(std::vector<T> values, double q) {
  if (values.empty()) return {};
  std::sort(values.begin(), values.end());
  return values[static_cast<std::size_t>(std::lround(q * static_cast<double>(values.size() - 1)))];
}

class Bench {
 public:
  explicit Bench(Options options) : options_(std::move(options)) {}
  Status run();

 private:
  // More windows would end too far ahead of the clock to be taken.
  int batchesBeforeRestart() const {
    return options_.window > kLongWindow ? 1 : kBatchesBeforeRestart;
  }
  Status prepare();
  Status registerAll();
  Status commitRows();
  Status pushPlans();
  Status pushEndpoints();
  Status restartAgents();
  Status restartController();
  Status checkCounts();
  Status checkCommitted();
  void printLatencies(const char* what);

  Options options_;
  FleetShape shape_;
  std::optional<ControllerProcess> controller_;
  std::string url_;
  std::optional<Fleet> fleet_;
  ControllerCounts before_;
  Figures figures_;
};

Status Bench::prepare() {
  shape_ = shapeOf(options_.rows, options_.window);
  if (options_.control.empty()) {
    controller_.emplace(options_.program, pinglistText(options_, 0));
    if (auto status = controller_->start(); !status) return status;
    shape_.controllers = {controller_->address()};
    url_ = controller_->url();
  } else {
    shape_.controllers = {options_.control};
    url_ = options_.url;
  }
  if (!url_.empty()) {
    const auto counts = readCounts(url_);
    if (!counts) return tl::unexpected(counts.error());
    before_ = *counts;
  }
  fmt::print("{} agents, {} rows of {} samples each per window ({} bytes a batch)\n",
             options_.agents, options_.rows, kSamples, shape_.row_bytes.size());
  return {};
}

Status Bench::registerAll() {
  fleet_.emplace(shape_, options_.agents);
  if (auto status = fleet_->startAll(); !status) return status;
  const auto took = fleet_->serveUntil("all registered with the plan", kMaxRecovery, [&] {
    return fleet_->allRegistered() && fleet_->allHavePlan(1);
  });
  if (!took) return tl::unexpected(took.error());
  figures_.add("first registration of all, plan included", "ms", toMilliseconds(*took));
  return {};
}

void Bench::printLatencies(const char* what) {
  const auto latencies = fleet_->takeLatencies();
  fmt::print(
      "  {}: {} batches, window closed to acknowledged: p50 {:.1f} ms, p99 {:.1f} ms, max "
      "{:.1f} ms\n",
      what, latencies.size(), toMilliseconds(quantile(latencies, 0.5)),
      toMilliseconds(quantile(latencies, 0.99)), toMilliseconds(quantile(latencies, 1)));
}

// All agents close their windows at the same moment, as in use: windows are aligned.
Status Bench::commitRows() {
  const auto bare = bareZeromq(shape_.row_bytes.size(), kBareFrames);
  if (!bare) return tl::unexpected(bare.error());
  const Nanos cpu_before = controller_ ? controller_->usage().cpu : 0;
  for (int i = 0; i < options_.windows; ++i) {
    const Nanos start = monotonicNow();
    fleet_->closeWindows();
    const auto took = fleet_->serveUntil("all batches acknowledged", kMaxRecovery,
                                         [&] { return fleet_->nothingWaits(); });
    if (!took) return tl::unexpected(took.error());
    figures_.add("committed while a window drains", "rows/s",
                 double{1.0} * options_.agents * options_.rows / toSeconds(monotonicNow() - start));
    const auto latencies = fleet_->takeLatencies();
    figures_.add("window closed to acknowledged, p50", "ms",
                 toMilliseconds(quantile(latencies, 0.5)));
    figures_.add("window closed to acknowledged, p99", "ms",
                 toMilliseconds(quantile(latencies, 0.99)));
    fleet_->serveFor(std::max<Nanos>(0, start + options_.window - monotonicNow()));
  }
  figures_.add("limit: bare ZeroMQ with the same frames", "rows/s", *bare * options_.rows);
  if (!controller_) return {};
  const double rows = double{1.0} * options_.windows * options_.agents * options_.rows;
  const Usage usage = controller_->usage();
  figures_.add("controller's CPU", "s per million rows",
               toSeconds(usage.cpu - cpu_before) / rows * 1e6);
  figures_.add("controller's resident memory", "MiB",
               static_cast<double>(usage.resident_bytes) / (1 << 20));
  return {};
}

Status Bench::pushPlans() {
  if (!controller_) return {};
  for (int i = 1; i <= options_.pushes; ++i) {
    const std::string text = pinglistText(options_, i % 2 == 0 ? 0 : 1);
    std::vector<std::uint64_t> before;
    for (const auto& agent : fleet_->agents()) before.push_back(agent->plansTaken());
    const Nanos start = monotonicNow();
    if (auto status = controller_->writePinglist(text); !status) return status;
    const auto took = fleet_->serveUntil("all have the new plan", kMaxRecovery, [&] {
      for (std::size_t n = 0; n < before.size(); ++n) {
        if (fleet_->agents()[n]->plansTaken() == before[n]) return false;
      }
      return true;
    });
    if (!took) return tl::unexpected(took.error());
    figures_.add("saved pinglist to the last agent's plan", "ms",
                 toMilliseconds(monotonicNow() - start));
    fleet_->serveFor(kSecond);
  }
  return {};
}

// Kills and restarts one agent after the other, whose new queue pair has to reach all others.
Status Bench::pushEndpoints() {
  for (int i = 0; i < options_.restarts; ++i) {
    const std::size_t number = static_cast<std::size_t>(i) * 37 % options_.agents;
    FleetAgent& agent = *fleet_->agents()[number];
    shape_.watched = agent.address();
    const Nanos start = monotonicNow();
    agent.kill();
    if (auto status = fleet_->start(number); !status) return status;
    const auto registered = fleet_->serveUntil("the restarted agent registered", kMaxRecovery,
                                               [&] { return agent.registered(); });
    if (!registered) return tl::unexpected(registered.error());
    const Nanos registered_at = monotonicNow();
    const auto took =
        fleet_->serveUntil("all have the restarted agent's endpoint", kMaxRecovery, [&] {
          return std::all_of(fleet_->agents().begin(), fleet_->agents().end(),
                             [&](const auto& peer) { return peer->watchedQpn() == agent.qpn(); });
        });
    if (!took) return tl::unexpected(took.error());
    const Nanos now = monotonicNow();
    figures_.add("a restarted agent's RDMA endpoint at the last agent, from its start", "ms",
                 toMilliseconds(now - start));
    figures_.add("a restarted agent's RDMA endpoint at the last agent, from its registration", "ms",
                 toMilliseconds(now - registered_at));
    fleet_->serveFor(kSecond);
  }
  return {};
}

Status Bench::restartAgents() {
  for (int i = batchesBeforeRestart(); i > 0; --i) fleet_->closeWindows();
  fleet_->killAll();  // batches are in flight, and some are committed and not acknowledged
  const Nanos start = monotonicNow();
  if (auto status = fleet_->startAll(); !status) return status;
  const auto registered = fleet_->serveUntil("all registered again", kMaxRecovery,
                                             [&] { return fleet_->allRegistered(); });
  if (!registered) return tl::unexpected(registered.error());
  const Nanos registered_after = monotonicNow() - start;
  const auto drained = fleet_->serveUntil("all batches acknowledged", kMaxRecovery,
                                          [&] { return fleet_->nothingWaits(); });
  if (!drained) return tl::unexpected(drained.error());
  figures_.add("all agents killed and restarted at once: registered after", "ms",
               toMilliseconds(registered_after));
  figures_.add("all agents killed and restarted at once: everything acknowledged after", "ms",
               toMilliseconds(monotonicNow() - start));
  printLatencies("left over");
  return {};
}

Status Bench::restartController() {
  if (!controller_) return {};
  for (int i = batchesBeforeRestart(); i > 0; --i) fleet_->closeWindows();
  const Nanos start = monotonicNow();
  controller_->kill();
  if (auto status = controller_->start(); !status) return status;
  url_ = controller_->url();
  const Nanos up = monotonicNow();
  const auto registered = fleet_->serveUntil("all registered with the new controller", kMaxRecovery,
                                             [&] { return fleet_->allRegistered(2); });
  if (!registered) return tl::unexpected(registered.error());
  const Nanos registered_after = monotonicNow() - up;
  const auto drained = fleet_->serveUntil("all batches acknowledged", kMaxRecovery,
                                          [&] { return fleet_->nothingWaits(); });
  if (!drained) return tl::unexpected(drained.error());
  figures_.add("controller killed and restarted: up after", "ms", toMilliseconds(up - start));
  figures_.add("controller killed and restarted: all registered, once it is up", "ms",
               toMilliseconds(registered_after));
  figures_.add("controller killed and restarted: everything acknowledged, once it is up", "ms",
               toMilliseconds(monotonicNow() - up));
  printLatencies("left over");
  return {};
}

// Called before the controller is restarted: its counters begin with its start.
Status Bench::checkCounts() {
  if (url_.empty()) return {};
  const std::uint64_t closed = fleet_->batchesClosed();
  ControllerCounts after;
  const auto agreed = fleet_->serveUntil("the controller's count", 10 * kSecond, [&] {
    const auto counts = readCounts(url_);
    if (counts) after = *counts;
    return counts && counts->batches_committed - before_.batches_committed >= closed;
  });
  const std::uint64_t batches = after.batches_committed - before_.batches_committed;
  const std::uint64_t rows = after.rows_committed - before_.rows_committed;
  fmt::print(
      "counted: {} batches closed, {} committed, {} rows of {}; {} arrived again and were "
      "ignored, {} messages refused\n",
      closed, batches, rows, closed * options_.rows,
      after.batches_duplicate - before_.batches_duplicate,
      after.messages_refused - before_.messages_refused);
  if (!agreed || batches != closed || rows != closed * options_.rows) {
    return makeError("count", "batches were lost or counted twice");
  }
  return {};
}

Status Bench::checkCommitted() {
  if (!controller_) return {};
  const auto committed = readCommitted(controller_->state());
  if (!committed) return tl::unexpected(committed.error());
  const std::uint64_t closed = fleet_->batchesClosed();
  figures_.add("batches closed", "", static_cast<double>(closed));
  figures_.add("batches in the ledger", "", static_cast<double>(committed->windows));
  figures_.add("distinct batches in the ledger", "", static_cast<double>(committed->distinct));
  figures_.add("batches sent more than once", "", static_cast<double>(fleet_->resent()));
  if (committed->windows != closed || committed->distinct != closed) {
    return makeError("ledger", "batches were lost or counted twice");
  }
  return {};
}

Status Bench::run() {
  using Step = Status (Bench::*)();
  for (const Step step : {&Bench::prepare, &Bench::registerAll, &Bench::commitRows,
                          &Bench::pushPlans, &Bench::pushEndpoints, &Bench::restartAgents,
                          &Bench::checkCounts, &Bench::restartController, &Bench::checkCommitted}) {
    if (auto status = (this->*step)(); !status) return status;
  }
  figures_.print();
  return {};
}

int main(const std::vector<std::string>& arguments) {
  namespace po = boost::program_options;
  Options options;
  options.program = builtController();
  std::string window = formatDuration(options.window);
  po::options_description described("Options");
  described.add_options()("agents", po::value(&options.agents)->default_value(options.agents),
                          "how many agents to simulate, 1 to 16000")(
      "rows", po::value(&options.rows)->default_value(options.rows),
      "rows of each agent in a window, 1 to 10000")(
      "window", po::value(&window)->default_value(window), "how long a window is")(
      "windows", po::value(&options.windows)->default_value(options.windows),
      "how many windows to close before the restarts")(
      "pushes", po::value(&options.pushes)->default_value(options.pushes),
      "how often to edit the pinglist")(
      "restarts", po::value(&options.restarts)->default_value(options.restarts),
      "how many agents to restart one by one, for their endpoints")(
      "controller", po::value(&options.program)->default_value(options.program),
      "the controller to start")("control", po::value(&options.control),
                                 "ADDR:PORT of a controller that runs already; its pinglist has to "
                                 "name the agents in a udp and "
                                 "an rdma probe")("url", po::value(&options.url),
                                                  "its HTTP address, to check the counts");
  const program::Usage usage{"fleet", "fleet [OPTIONS]",
                             "2,000 agents' control clients against one controller."};
  po::variables_map values;
  if (const auto code = program::parse(usage, arguments, described, {}, values)) return *code;
  const auto length = parseDuration(window);
  if (!length || options.agents == 0 || options.agents > 16'000 || options.rows == 0 ||
      options.rows > 10'000 || options.windows < 1) {
    std::cerr << "fleet: 1..16000 agents, 1..10000 rows, at least 1 window, a window such as 2s\n";
    return program::kExitUsage;
  }
  options.window = *length;
  return runFleet("fleet", [&] { return Bench(options).run(); });
}

}  // namespace
}  // namespace pingloom::bench

int main(int argc, char** argv) {
  return pingloom::bench::main(std::vector<std::string>(argv + 1, argv + argc));
}
