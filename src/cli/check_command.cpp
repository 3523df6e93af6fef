// pingloom check: tells whether a file is valid, and what a pinglist costs.
#include <fmt/format.h>

#include <iostream>
#include <map>

#include "agent/config.h"
#include "cli/commands.h"
#include "cli/exit_codes.h"
#include "cli/file_kind.h"
#include "cli/input_file.h"
#include "collector/config.h"
#include "common/program.h"
#include "common/time.h"
#include "controller/config.h"
#include "pinglist/cost.h"

namespace pingloom::cli {
namespace {

namespace po = boost::program_options;

program::Usage checkUsage() {
  return {"pingloom check", "pingloom check FILE [--config CONTROLLER.yaml]",
          "Checks whether FILE is valid. FILE is a pinglist (pingloom's or PingWeave's) or the\n"
          "configuration of an agent, a controller or a collector; its keys tell which. For a "
          "pinglist\n"
          "the command also prints what it costs, and where that exceeds the limits.\n\n"
          "Exit code: 0 valid, 1 invalid, 2 could not check."};
}

void printCost(const pinglist::Cost& cost, const pinglist::Limits& limits) {
  std::cout << fmt::format("  probes   {}\n", cost.probes)
            << fmt::format("  hosts    {}\n", cost.hosts)
            << fmt::format("  pairs    {}\n", cost.pairs);
  if (!cost.busiest_host.empty()) {
    std::cout << fmt::format("  pings    {:.6g}/s by the busiest host, {}; {:.6g}/s by all\n",
                             cost.busiest_pings_per_second, cost.busiest_host,
                             cost.pings_per_second);
  }
  std::cout << fmt::format("  rows     {:.6g}/s at the controller\n", cost.rows_per_second)
            << fmt::format("  history  {} a day\n",
                           pinglist::humanBytes(cost.history_bytes_per_day));
  for (const std::string& sentence : pinglist::beyondLimits(cost, limits)) {
    std::cout << "beyond the limits: " << sentence << "\n";
  }
}

// Prints one line for all probes that share the same thresholds.
void printThresholds(const pinglist::Pinglist& list) {
  std::map<std::string, std::vector<std::string>> probes;
  for (std::size_t i = 0; i < list.thresholds.size(); ++i) {
    const std::string text = describe(list.thresholds[i]);
    if (!text.empty()) probes[text].push_back(list.plan.probes[i].name);
  }
  for (const auto& [text, names] : probes) {
    const std::string more = names.size() == 1 ? "" : fmt::format(" and {} more", names.size() - 1);
    std::cout << fmt::format("  thresholds of {}{}: {}\n", names.front(), more, text);
  }
}

int checkPinglist(const std::string& text, const std::string& file,
                  const pinglist::Limits& limits) {
  const auto parsed = pinglist::parse(text, file, utcNow());
  if (!parsed) return failFile(parsed.error(), kExitInvalid);
  for (const std::string& warning : parsed->warnings) std::cout << "warning: " << warning << "\n";
  std::cout << file << ": valid pinglist\n";
  printThresholds(*parsed);
  printCost(pinglist::costOf(*parsed), limits);
  return 0;
}

template <typename Config>
int reportConfig(const Result<Config>& parsed, const std::string& file, std::string_view whose) {
  if (!parsed) return failFile(parsed.error(), kExitInvalid);
  std::cout << file << ": valid configuration of " << whose << "\n";
  return 0;
}

Result<pinglist::Limits> limitsOf(const std::string& file) {
  const auto text = readInputFile(file);
  if (!text) return tl::unexpected(text.error());
  const auto config = controller::parseConfig(*text, file);
  if (!config) return tl::unexpected(config.error());
  return config->limits;
}

}  // namespace

int runCheck(const std::vector<std::string>& arguments) {
  po::options_description options("Options");
  options.add_options()("file", po::value<std::string>()->required()->value_name("FILE"),
                        "the file to check")("config", po::value<std::string>()->value_name("FILE"),
                                             "take the limits from this controller configuration");
  po::variables_map values;
  const auto positional = po::positional_options_description().add("file", 1);
  if (const auto code = program::parse(checkUsage(), arguments, options, positional, values))
    return *code;

  const auto& file = values["file"].as<std::string>();
  const auto text = readInputFile(file);
  if (!text) return failFile(text.error(), kExitCouldNotRead);
  pinglist::Limits limits;
  if (values.count("config") != 0) {
    const auto configured = limitsOf(values["config"].as<std::string>());
    if (!configured) return failFile(configured.error(), kExitCouldNotRead);
    limits = *configured;
  }
  const auto kind = fileKindOf(*text, file);
  if (!kind) return failFile(kind.error(), kExitInvalid);
  switch (*kind) {
    case FileKind::kPinglist:
      return checkPinglist(*text, file, limits);
    case FileKind::kAgentConfig:
      return reportConfig(agent::parseConfig(*text, file), file, "an agent");
    case FileKind::kControllerConfig:
      return reportConfig(controller::parseConfig(*text, file), file, "a controller");
    case FileKind::kCollectorConfig:
      return reportConfig(collector::parseConfig(*text, file), file, "a collector");
  }
  return kExitInvalid;
}

}  // namespace pingloom::cli
