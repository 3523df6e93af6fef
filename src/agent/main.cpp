#include <malloc.h>

#include <cstdlib>

#include "agent/agent.h"
#include "agent/join_request.h"
#include "common/daemon.h"
#include "probe/transport.h"

namespace {

constexpr pingloom::daemon::About kAbout{
    "pingloom-agent",
    "Probes other hosts by the controller's pinglist, answers their probes, and reports.",
    "config/agent.yaml"};

int runAgent(const std::string& file) {
  using namespace pingloom;
  auto config = daemon::readConfig(file, agent::parseConfig);
  if (!config) return daemon::fail(kAbout, config.error(), program::kExitUsage);
  log::init(kAbout.name, config->log_levels);
  auto loaded = agent::joinOnce(*config);
  if (loaded) loaded = agent::loadKeys(*config);
  if (!loaded) return daemon::fail(kAbout, loaded.error(), program::kExitUsage);
  // Few threads allocate little; more arenas would only fragment the memory.
  mallopt(M_ARENA_MAX, 2);
  const auto manager = SystemServiceManager::start();
  if (!manager) return daemon::fail(kAbout, manager.error());
  const auto agent = agent::Agent::start(*config, probe::makeTransports);
  if (!agent) return daemon::fail(kAbout, agent.error());
  daemon::serve(**agent, **manager, file, agent::parseConfig);
  return EXIT_SUCCESS;
}

}  // namespace

int main(int argc, char** argv) {
  // The host's own metrics do not belong to the pod or service that the agent itself runs as.
  unsetenv("OTEL_RESOURCE_ATTRIBUTES");
  return pingloom::daemon::start(kAbout, argc, argv, runAgent);
}
