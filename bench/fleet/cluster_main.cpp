// The same fleet of agents against one controller with SQLite and its own Redis, and against
// several that share a history in PostgreSQL and a Redis: what a row costs all processes, what the
// loss of a controller costs, and whether every batch is in the history once. Needs a PostgreSQL
// server without tables of pingloom's:
//
//     tests/integration/postgres.py build/release/bin/fleet_cluster
#include <boost/program_options/value_semantic.hpp>
#include <cstdlib>
#include <iostream>
#include <string>
#include <vector>

#include "cluster_bench.h"
#include "common/duration.h"
#include "common/program.h"
#include "fleet_program.h"

namespace pingloom::bench {
namespace {

int main(const std::vector<std::string>& arguments) {
  namespace po = boost::program_options;
  ClusterOptions options;
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
      "how many windows to measure")("rounds",
                                     po::value(&options.rounds)->default_value(options.rounds),
                                     "how often to compare one controller and several")(
      "kills", po::value(&options.kills)->default_value(options.kills),
      "how many controllers to kill, one after the other")(
      "restarts", po::value(&options.restarts)->default_value(options.restarts),
      "how often to restart all agents at once")(
      "upgrades", po::value(&options.upgrades)->default_value(options.upgrades),
      "how often to stop and start each controller in turn")(
      "changes", po::value(&options.changes)->default_value(options.changes),
      "for how many agents, one after the other, all pairs change their state")(
      "postgres", po::value(&options.postgres)->default_value(options.postgres),
      "the folder of a PostgreSQL server's socket");
  const program::Usage usage{"fleet_cluster", "fleet_cluster [OPTIONS]",
                             "A fleet of agents against controllers that share a history."};
  po::variables_map values;
  if (const auto code = program::parse(usage, arguments, described, {}, values)) return *code;
  const auto length = parseDuration(window);
  if (!length || options.agents == 0 || options.agents > 16'000 || options.rows == 0 ||
      options.rows > 10'000 || options.windows < 1 || options.rounds < 1 || options.changes < 0 ||
      options.controllers < 2 || options.controllers > 16 || options.postgres.empty()) {
    std::cerr << "fleet_cluster: see --help; a PostgreSQL server is needed\n";
    return program::kExitUsage;
  }
  options.window = *length;
  return runFleet("fleet_cluster", [&] { return ClusterBench(options).run(); });
}

}  // namespace
}  // namespace pingloom::bench

int main(int argc, char** argv) {
  return pingloom::bench::main(std::vector<std::string>(argv + 1, argv + argc));
}
