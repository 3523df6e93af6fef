#include <malloc.h>

#include <boost/program_options.hpp>
#include <cstdlib>
#include <iostream>
#include <string>
#include <vector>

#include "agent/agent.h"
#include "common/file.h"
#include "common/log.h"
#include "common/program.h"
#include "probe/transport.h"

namespace {

namespace po = boost::program_options;
using pingloom::Error;

constexpr std::size_t kMaxConfigBytes = 1U << 20;
constexpr int kExitFailure = 1;

int fail(const Error& error) {
  std::cerr << "pingloom-agent: " << error.text() << "\n";
  return kExitFailure;
}

int runAgent(const std::string& file) {
  const auto text = pingloom::readFile(file, kMaxConfigBytes);
  if (!text) return fail(text.error());
  const auto config = pingloom::agent::parseConfig(*text, file);
  if (!config) return fail(config.error());
  pingloom::log::init("pingloom-agent", config->log_level);
  // Few threads that allocate little: more arenas would only spread the memory.
  mallopt(M_ARENA_MAX, 2);
  const pingloom::UniqueFd stop = pingloom::program::blockStopSignals();
  auto agent = pingloom::agent::Agent::start(*config, pingloom::probe::makeTransports);
  if (!agent) return fail(agent.error());
  (*agent)->run(stop.get());
  return EXIT_SUCCESS;
}

}  // namespace

int main(int argc, char** argv) {
  po::options_description options("Options");
  options.add_options()("config,c", po::value<std::string>()->required()->value_name("FILE"),
                        "the agent's configuration; config/agent.yaml explains it");
  const pingloom::program::Usage usage{
      "pingloom-agent", "pingloom-agent --config FILE",
      "Probes other hosts by the controller's pinglist, answers their probes, and reports."};
  po::variables_map values;
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  if (const auto code = pingloom::program::parse(usage, arguments, options, {}, values)) {
    return *code;
  }
  return runAgent(values["config"].as<std::string>());
}
