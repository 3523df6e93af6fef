// pingloom dta: asks the stores that translators write by RDMA. One file for each action.
#include "cli/command_actions.h"
#include "cli/commands.h"
#include "cli/dta_actions.h"
#include "cli/dta_source.h"

namespace pingloom::cli {

int runDta(const std::vector<std::string>& arguments) {
  static const std::vector<CommandAction> actions = {
      {"tables", "show the tables of all stores", dtaTables},
      {"get", "show the value of a key", dtaGet},
      {"count", "show how much was counted for a key", dtaCount},
      {"top", "show the most counted keys of a table", dtaTop},
      {"path", "show the paths between two hosts", dtaPath},
      {"tail", "follow a list", dtaTail},
      {"status", "show the stores and what their writers say", dtaStatus},
      {"inspect", "describe and check a store's file", dtaInspect}};
  return runAction(kDtaCommand, "Stores of telemetry that is written by RDMA; docs/dta.md.",
                   actions, arguments);
}

}  // namespace pingloom::cli
