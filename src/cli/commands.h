// The commands of `pingloom`. Each has one .cpp, runs on the main thread, and gives the exit code
// of the process: 0 done, 2 usage (program::kExitUsage); the others are in each command's help.
// `arguments` are those after the command's name.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

namespace pingloom::cli {

int runCheck(const std::vector<std::string>& arguments);
int runPlan(const std::vector<std::string>& arguments);
int runStatus(const std::vector<std::string>& arguments);
int runTop(const std::vector<std::string>& arguments);
int runMesh(const std::vector<std::string>& arguments);
int runResults(const std::vector<std::string>& arguments);
int runPing(const std::vector<std::string>& arguments);
int runRead(const std::vector<std::string>& arguments);
int runPages(const std::vector<std::string>& arguments);
int runDevices(const std::vector<std::string>& arguments);
int runKeys(const std::vector<std::string>& arguments);

struct Command {
  std::string_view name;
  std::string_view summary;
  int (*run)(const std::vector<std::string>& arguments);
};

// In the order of the help.
constexpr std::array<Command, 11> kCommands = {
    {{"check", "is a pinglist or a configuration file valid, and what does it cost", runCheck},
     {"plan", "what a host would probe by a pinglist", runPlan},
     {"status", "the controller and its agents", runStatus},
     {"top", "the worst pairs, live", runTop},
     {"mesh", "every probe's mesh as a table, and whether each pair has a fresh result", runMesh},
     {"results", "the latest rows, read from Redis", runResults},
     {"ping", "measure one host, once", runPing},
     {"read", "read another host's memory by RDMA: does it work, and how fast", runRead},
     {"pages", "the metric pages that a collector reads", runPages},
     {"devices", "the RDMA devices of this host", runDevices},
     {"keys", "keys of controller, agents and collectors: make, authorise, revoke", runKeys}}};

}  // namespace pingloom::cli
