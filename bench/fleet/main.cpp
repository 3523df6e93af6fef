// 2,000 agents against one controller: the real control client of each, with made-up rows, in one
// process. Prints what the controller commits, how long acknowledgements take, how long a saved
// pinglist and a restarted agent's RDMA endpoint take to the last agent, and what mass restarts
// cost; checks that every batch was counted once.
#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <boost/program_options/value_semantic.hpp>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <iostream>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bare_zeromq.h"
#include "common/duration.h"
#include "common/log.h"
#include "common/program.h"
#include "controller_process.h"
#include "fleet.h"

namespace pingloom::bench {
namespace {

constexpr Nanos kPatience = 120 * kSecond;
constexpr std::uint32_t kSamples = 10;
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
  std::string control;  // of one that runs already
  std::string url;      // its HTTP
};

std::string list(std::uint32_t count, IpAddress (*address)(std::uint32_t)) {
  std::string text;
  for (std::uint32_t i = 0; i < count; ++i) text += (i == 0 ? "" : ", ") + address(i).text();
  return "[" + text + "]";
}

// `extra` destinations beside those that have rows make it another plan.
std::string pinglistText(const Options& options, std::uint32_t extra) {
  return fmt::format(
      "version: 1\ndefaults: {{ interval: 200ms, timeout: 100ms, window: {} }}\nprobes:\n"
      "  - name: {}\n    protocol: udp\n    from: {}\n    to: {}\n"
      "  - name: {}\n    protocol: rdma\n    mesh: {}\n",
      formatDuration(options.window), kProbeName, list(options.agents, agentAddress),
      list(options.rows + extra, destinationAddress), kRdmaProbeName,
      list(options.agents, agentAddress));
}

double milliseconds(Nanos time) { return static_cast<double>(time) / 1e6; }

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
  // More would end too far ahead of the clock to be taken.
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
};

Status Bench::prepare() {
  std::vector<IpAddress> destinations;
  for (std::uint32_t i = 0; i < options_.rows; ++i) destinations.push_back(destinationAddress(i));
  shape_.rows = options_.rows;
  shape_.window = options_.window;
  shape_.row_bytes = makeRows(destinations, kSamples);
  if (options_.control.empty()) {
    controller_.emplace(options_.program, pinglistText(options_, 0));
    if (auto status = controller_->start(); !status) return status;
    shape_.controller = controller_->address();
    url_ = controller_->url();
  } else {
    shape_.controller = options_.control;
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
  const auto took = fleet_->serveUntil("all registered with the plan", kPatience, [&] {
    return fleet_->allRegistered() && fleet_->allHavePlan(1);
  });
  if (!took) return tl::unexpected(took.error());
  fmt::print("first registration of all, plan included: {:.0f} ms\n", milliseconds(*took));
  return {};
}

void Bench::printLatencies(const char* what) {
  const auto latencies = fleet_->takeLatencies();
  fmt::print(
      "  {}: {} batches, window closed to acknowledged: p50 {:.1f} ms, p99 {:.1f} ms, max "
      "{:.1f} ms\n",
      what, latencies.size(), milliseconds(quantile(latencies, 0.5)),
      milliseconds(quantile(latencies, 0.99)), milliseconds(quantile(latencies, 1)));
}

// All agents close their windows at the same moment, as they do: windows are aligned.
Status Bench::commitRows() {
  const double bare = bareZeromq(shape_.row_bytes.size(), 20'000) * options_.rows;
  std::vector<double> rates;
  const Nanos cpu_before = controller_ ? controller_->cpuTime() : 0;
  for (int i = 0; i < options_.windows; ++i) {
    const Nanos start = monotonicNow();
    fleet_->closeWindows();
    const auto took = fleet_->serveUntil("all batches acknowledged", kPatience,
                                         [&] { return fleet_->nothingWaits(); });
    if (!took) return tl::unexpected(took.error());
    rates.push_back(double{1.0} * options_.agents * options_.rows /
                    (static_cast<double>(monotonicNow() - start) / 1e9));
    fleet_->serveFor(std::max<Nanos>(0, start + options_.window - monotonicNow()));
  }
  fmt::print(
      "rows/s committed while a window drains: median {:.0f}, lowest {:.0f}, highest {:.0f} "
      "({} windows; bare ZeroMQ with the same frames: {:.0f})\n",
      quantile(rates, 0.5), quantile(rates, 0), quantile(rates, 1), rates.size(), bare);
  printLatencies("windows");
  if (controller_) {
    const double rows = double{1.0} * options_.windows * options_.agents * options_.rows;
    fmt::print("  controller: {:.2f} us CPU per row, {:.0f} MiB resident\n",
               static_cast<double>(controller_->cpuTime() - cpu_before) / 1e3 / rows,
               static_cast<double>(controller_->residentBytes()) / (1 << 20));
  }
  return {};
}

Status Bench::pushPlans() {
  if (!controller_) return {};
  std::vector<Nanos> times;
  for (int i = 1; i <= options_.pushes; ++i) {
    const std::string text = pinglistText(options_, i % 2 == 0 ? 0 : 1);
    std::vector<std::uint64_t> before;
    for (const auto& agent : fleet_->agents()) before.push_back(agent->plansTaken());
    const Nanos start = monotonicNow();
    if (auto status = controller_->writePinglist(text); !status) return status;
    const auto took = fleet_->serveUntil("all have the new plan", kPatience, [&] {
      for (std::size_t n = 0; n < before.size(); ++n) {
        if (fleet_->agents()[n]->plansTaken() == before[n]) return false;
      }
      return true;
    });
    if (!took) return tl::unexpected(took.error());
    times.push_back(monotonicNow() - start);
    fleet_->serveFor(kSecond);
  }
  fmt::print(
      "saved pinglist to the last agent's plan: median {:.0f} ms, longest {:.0f} ms ({} "
      "edits)\n",
      milliseconds(quantile(times, 0.5)), milliseconds(quantile(times, 1)), times.size());
  return {};
}

// One agent after the other is killed and restarted: its new queue pair has to reach all.
Status Bench::pushEndpoints() {
  std::vector<Nanos> from_start;
  std::vector<Nanos> from_registration;
  for (int i = 0; i < options_.restarts; ++i) {
    FleetAgent& agent = *fleet_->agents()[static_cast<std::size_t>(i) * 37 % options_.agents];
    shape_.watched = agent.address();
    const Nanos start = monotonicNow();
    agent.kill();
    if (auto status = fleet_->start(agent); !status) return status;
    const auto registered = fleet_->serveUntil("the restarted agent registered", kPatience,
                                               [&] { return agent.registered(); });
    if (!registered) return tl::unexpected(registered.error());
    const Nanos registered_at = monotonicNow();
    const auto took = fleet_->serveUntil("all have the restarted agent's endpoint", kPatience, [&] {
      return std::all_of(fleet_->agents().begin(), fleet_->agents().end(),
                         [&](const auto& peer) { return peer->watchedQpn() == agent.qpn(); });
    });
    if (!took) return tl::unexpected(took.error());
    from_registration.push_back(monotonicNow() - registered_at);
    from_start.push_back(monotonicNow() - start);
    fleet_->serveFor(kSecond);
  }
  if (from_start.empty()) return {};
  fmt::print(
      "killed and restarted agent's RDMA endpoint to the last agent's table: from its registration "
      "median {:.0f} ms, longest {:.0f} ms; from its start median {:.0f} ms, longest {:.0f} ms "
      "({} restarts)\n",
      milliseconds(quantile(from_registration, 0.5)), milliseconds(quantile(from_registration, 1)),
      milliseconds(quantile(from_start, 0.5)), milliseconds(quantile(from_start, 1)),
      from_start.size());
  return {};
}

Status Bench::restartAgents() {
  for (int i = batchesBeforeRestart(); i > 0; --i) fleet_->closeWindows();
  fleet_->killAll();  // batches are on the way, some committed and not acknowledged
  const Nanos start = monotonicNow();
  if (auto status = fleet_->startAll(); !status) return status;
  const auto registered = fleet_->serveUntil("all registered again", kPatience,
                                             [&] { return fleet_->allRegistered(); });
  if (!registered) return tl::unexpected(registered.error());
  const Nanos registered_after = monotonicNow() - start;
  const auto drained = fleet_->serveUntil("all batches acknowledged", kPatience,
                                          [&] { return fleet_->nothingWaits(); });
  if (!drained) return tl::unexpected(drained.error());
  fmt::print(
      "all agents killed and restarted at once: registered after {:.0f} ms, everything "
      "acknowledged after {:.0f} ms\n",
      milliseconds(registered_after), milliseconds(monotonicNow() - start));
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
  const auto registered = fleet_->serveUntil("all registered with the new controller", kPatience,
                                             [&] { return fleet_->allRegistered(2); });
  if (!registered) return tl::unexpected(registered.error());
  const Nanos registered_after = monotonicNow() - up;
  const auto drained = fleet_->serveUntil("all batches acknowledged", kPatience,
                                          [&] { return fleet_->nothingWaits(); });
  if (!drained) return tl::unexpected(drained.error());
  fmt::print(
      "controller killed and restarted ({:.0f} ms): registered {:.0f} ms later, everything "
      "acknowledged {:.0f} ms later\n",
      milliseconds(up - start), milliseconds(registered_after), milliseconds(monotonicNow() - up));
  printLatencies("left over");
  return {};
}

// Before the controller is restarted: its counters are since its start.
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
  const auto committed = controller_->committed();
  if (!committed) return tl::unexpected(committed.error());
  const std::uint64_t closed = fleet_->batchesClosed();
  fmt::print("history: {} batches closed, {} in the ledger, {} of them distinct\n", closed,
             committed->windows, committed->distinct);
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
    std::fflush(stdout);
  }
  fmt::print("every batch counted once; {} were sent more than once on a connection\n",
             fleet_->resent());
  return {};
}

int main(const std::vector<std::string>& arguments) {
  namespace po = boost::program_options;
  Options options;
  std::error_code ignored;
  options.program = (std::filesystem::read_symlink("/proc/self/exe", ignored).parent_path() /
                     "pingloom-controller")
                        .string();
  std::string window = formatDuration(options.window);
  po::options_description described("Options");
  described.add_options()("agents", po::value(&options.agents)->default_value(options.agents),
                          "how many agents")(
      "rows", po::value(&options.rows)->default_value(options.rows), "rows per agent and window")(
      "window", po::value(&window)->default_value(window), "the window's length")(
      "windows", po::value(&options.windows)->default_value(options.windows),
      "windows to close before the restarts")(
      "pushes", po::value(&options.pushes)->default_value(options.pushes), "edits of the pinglist")(
      "restarts", po::value(&options.restarts)->default_value(options.restarts),
      "agents to restart one by one, for their endpoints")(
      "controller", po::value(&options.program)->default_value(options.program),
      "the controller to start")("control", po::value(&options.control),
                                 "ADDR:PORT of a controller that runs already; its pinglist has to "
                                 "name the agents in a udp and "
                                 "an rdma probe")("url", po::value(&options.url),
                                                  "its HTTP, to check the counts");
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
  log::init("fleet", log::Level::kError);
  rlimit files{};
  ::getrlimit(RLIMIT_NOFILE, &files);
  files.rlim_cur = files.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &files);
  const auto status = Bench(options).run();
  if (!status) {
    std::cerr << "fleet: " << status.error().text() << "\n";
    return 1;
  }
  return 0;
}

}  // namespace
}  // namespace pingloom::bench

int main(int argc, char** argv) {
  return pingloom::bench::main(std::vector<std::string>(argv + 1, argv + argc));
}
