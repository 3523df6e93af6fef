// The commands of `pingloom`. Each has one .cpp, runs on the main thread, and returns the exit code
// of the process: 0 for done, 2 for wrong usage (program::kExitUsage); each command's help lists
// the others. `arguments` are the ones that follow the command's name.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

namespace pingloom::cli {

int runCheck(const std::vector<std::string>& arguments);
int runPlan(const std::vector<std::string>& arguments);
int runStatus(const std::vector<std::string>& arguments);
int runIncidents(const std::vector<std::string>& arguments);
int runSilence(const std::vector<std::string>& arguments);
int runMaintenance(const std::vector<std::string>& arguments);
int runEvents(const std::vector<std::string>& arguments);
int runTop(const std::vector<std::string>& arguments);
int runMesh(const std::vector<std::string>& arguments);
int runResults(const std::vector<std::string>& arguments);
int runPath(const std::vector<std::string>& arguments);
int runFabric(const std::vector<std::string>& arguments);
int runPing(const std::vector<std::string>& arguments);
int runRead(const std::vector<std::string>& arguments);
int runPages(const std::vector<std::string>& arguments);
int runDta(const std::vector<std::string>& arguments);
int runDevices(const std::vector<std::string>& arguments);
int runControllers(const std::vector<std::string>& arguments);
int runAlerts(const std::vector<std::string>& arguments);
int runHistory(const std::vector<std::string>& arguments);
int runKeys(const std::vector<std::string>& arguments);

struct Command {
  std::string_view name;
  std::string_view summary;
  int (*run)(const std::vector<std::string>& arguments);
};

// The help lists the commands in this order.
constexpr std::array<Command, 21> kCommands = {
    {{"check", "check a pinglist or configuration file, and show what a pinglist costs", runCheck},
     {"plan", "show what a host would probe according to a pinglist", runPlan},
     {"status", "show whether the controller and its agents are healthy", runStatus},
     {"incidents", "show what is wrong with hosts and pairs, and acknowledge it", runIncidents},
     {"silence", "hide known incidents and withhold their alerts", runSilence},
     {"maintenance", "say which hosts are being worked on and are not judged", runMaintenance},
     {"events", "show what changed: states of pairs, and paths of flows", runEvents},
     {"top", "show the worst pairs, live", runTop},
     {"mesh", "show every probe's mesh as a table, and check that results are fresh", runMesh},
     {"results", "show the latest rows, read from Redis", runResults},
     {"path", "show the routers that the packets of a pair pass", runPath},
     {"fabric", "show the switches and links that the traced paths have shown", runFabric},
     {"ping", "measure one host once", runPing},
     {"read", "read another host's memory by RDMA, and measure latency and throughput", runRead},
     {"pages", "show the metric pages that a collector reads", runPages},
     {"dta", "ask the stores of telemetry that is written by RDMA", runDta},
     {"devices", "show the RDMA devices of this host", runDevices},
     {"controllers", "show the controllers that share a history, and which one leads",
      runControllers},
     {"alerts", "show the targets of alerts, and send a test to one", runAlerts},
     {"history", "copy a history to another database, or back to a file", runHistory},
     {"keys", "generate, authorise and revoke keys of agents and collectors", runKeys}}};

}  // namespace pingloom::cli
