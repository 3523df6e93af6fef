// Runs simulated agents against controllers that run already: the real control client of each, with
// made-up rows, for as long as it is told. tests/chaos/fleet_run.py kills the controllers and what
// they share meanwhile. Prints how many batches were closed once all of them are acknowledged.
#include <algorithm>
#include <boost/program_options/value_semantic.hpp>
#include <iostream>
#include <string>
#include <vector>

#include "common/duration.h"
#include "common/program.h"
#include "fleet.h"
#include "fleet_program.h"
#include "shared/clocks.h"
#include "shared/figures.h"

namespace pingloom::bench {
namespace {

constexpr Nanos kMaxRecovery = 120 * kSecond;

struct Options {
  std::vector<std::string> controllers;
  std::uint32_t agents = 2000;
  std::uint32_t rows = 100;
  Nanos window = 5 * kSecond;
  int seconds = 60;
};

Status run(const Options& options) {
  FleetShape shape = shapeOf(options.rows, options.window);
  shape.controllers = options.controllers;
  Fleet fleet(shape, options.agents);
  if (auto status = fleet.startAll(); !status) return status;
  const auto ready = fleet.serveUntil("all registered", kMaxRecovery, [&] {
    return fleet.allRegistered() && fleet.allHavePlan(1);
  });
  if (!ready) return tl::unexpected(ready.error());
  const Nanos end = monotonicNow() + options.seconds * kSecond;
  while (monotonicNow() < end) {
    fleet.serveFor(options.window - utcNow() % options.window);
    fleet.closeWindows();
  }
  const auto drained = fleet.serveUntil("all batches acknowledged", kMaxRecovery,
                                        [&] { return fleet.nothingWaits(); });
  if (!drained) return tl::unexpected(drained.error());
  const std::vector<Nanos> latencies = fleet.takeLatencies();
  const auto longest = std::max_element(latencies.begin(), latencies.end());
  Figures figures;
  figures.add("batches closed", "", static_cast<double>(fleet.batchesClosed()));
  figures.add("batches sent again", "", static_cast<double>(fleet.resent()));
  if (longest != latencies.end()) {
    figures.add("longest wait for an acknowledgement", "ms", toMilliseconds(*longest));
  }
  figures.print();
  return {};
}

int main(const std::vector<std::string>& arguments) {
  namespace po = boost::program_options;
  Options options;
  std::string window = formatDuration(options.window);
  po::options_description described("Options");
  described.add_options()("controllers", po::value(&options.controllers)->multitoken(),
                          "HOST:PORT of each controller")(
      "pinglist", "print the pinglist that the controllers need, and end")(
      "agents", po::value(&options.agents)->default_value(options.agents),
      "how many agents to simulate, 1 to 16000")(
      "rows", po::value(&options.rows)->default_value(options.rows),
      "rows of each agent in a window, 1 to 10000")(
      "window", po::value(&window)->default_value(window), "how long a window is")(
      "seconds", po::value(&options.seconds)->default_value(options.seconds),
      "for how long windows are closed");
  const program::Usage usage{"fleet_agents", "fleet_agents --controllers A B C [OPTIONS]",
                             "A fleet of agents for controllers that run already."};
  po::variables_map values;
  if (const auto code = program::parse(usage, arguments, described, {}, values)) return *code;
  const auto length = parseDuration(window);
  if (!length || *length < kSecond || options.agents == 0 || options.agents > 16'000 ||
      options.rows == 0 || options.rows > 10'000 || options.seconds < 0) {
    std::cerr << "fleet_agents: see --help\n";
    return program::kExitUsage;
  }
  options.window = *length;
  if (values.count("pinglist") != 0) {
    std::cout << udpPinglist(options.agents, options.rows, options.window);
    return 0;
  }
  return runFleet("fleet_agents", [&] { return run(options); });
}

}  // namespace
}  // namespace pingloom::bench

int main(int argc, char** argv) {
  return pingloom::bench::main(std::vector<std::string>(argv + 1, argv + argc));
}
