// pingloom check: tells whether a file is valid, and what a pinglist costs.
#include <fmt/format.h>

#include <iostream>
#include <map>
#include <memory>

#include "agent/config.h"
#include "cli/commands.h"
#include "cli/controller_api.h"
#include "cli/exit_codes.h"
#include "cli/input_file.h"
#include "cli/mtu_check.h"
#include "cli/pinglist_cost.h"
#include "cli/pinglist_members.h"
#include "cli/site_options.h"
#include "cli/text_table.h"
#include "collector/config.h"
#include "common/program.h"
#include "common/time.h"
#include "controller/config.h"
#include "controller/model/grid_plan.h"
#include "controller/model/latency.h"
#include "pinglist/cost.h"
#include "translator/config.h"

namespace pingloom::cli {
namespace {

namespace po = boost::program_options;

program::Usage checkUsage() {
  return {"pingloom check", "pingloom check FILE [--config CONTROLLER.yaml] [--url URL]",
          "Checks whether FILE is valid. FILE is a pinglist (pingloom's or PingWeave's) or the\n"
          "configuration of an agent, a controller, a collector or a translator; its keys tell\n"
          "which. For a pinglist the command also prints what it costs, where that exceeds the\n"
          "limits, and which PINGs do not fit an MTU that is known. A running controller is asked\n"
          "for the agents that entries 'registered' stand for, and for the MTUs of RDMA\n"
          "endpoints.\n\n"
          "Exit code: 0 valid, 1 invalid, 2 could not check."};
}

void printCost(const pinglist::Cost& cost, const pinglist::Limits& limits) {
  std::cout << costText(cost);
  for (const std::string& sentence : pinglist::beyondLimits(cost, limits)) {
    std::cout << "beyond the limits: " << sentence << "\n";
  }
}

// Prints one line for all probes that have the same text for a key; "" is the usual and not shown.
void printKey(const pinglist::Pinglist& list, std::string_view key,
              const std::vector<std::string>& texts) {
  std::map<std::string, std::vector<std::string>> probes;
  for (std::size_t i = 0; i < texts.size(); ++i) {
    if (!texts[i].empty()) probes[texts[i]].push_back(list.plan.probes[i].name);
  }
  for (const auto& [text, names] : probes) {
    const std::string more = names.size() == 1 ? "" : fmt::format(" and {} more", names.size() - 1);
    std::cout << fmt::format("  {} of {}{}: {}\n", key, names.front(), more, text);
  }
}

void printKeys(const pinglist::Pinglist& list) {
  std::vector<std::string> thresholds;
  for (const pinglist::Thresholds& each : list.thresholds) thresholds.push_back(describe(each));
  printKey(list, "thresholds", thresholds);
  printKey(list, "rollup", list.rollups);
}

void printLatency(const pinglist::Pinglist& list) {
  const auto shared = std::make_shared<const pinglist::Pinglist>(list);
  const controller::LatencyShape shape(*controller::makeGridPlan(shared, 1));
  std::cout << fmt::format("  latency  {} series for Prometheus\n", shape.series);
  if (shape.probes_left_out + shape.combinations_left_out == 0) return;
  std::cout << fmt::format(
      "beyond the limits: {} probes and {} combinations of rollup labels get no histogram, because "
      "there are at most {} series; roll up by a label with fewer values\n",
      shape.probes_left_out, shape.combinations_left_out, controller::LatencyShape::kMaxSeries);
}

// The MTUs of other hosts are those that the controller knows.
void printMisfits(const plan::Plan& plan, const AskedHosts& asked) {
  KnownMtus known;
  known.addInterfaces(plan);
  if (asked.hosts) {
    known.addEndpoints(*asked.hosts);
  } else if (dependsOnEndpoints(plan)) {
    std::cout
        << "  note: the path MTUs of the hosts are not checked, because no controller answers ("
        << printable(asked.why) << "); --url names one that runs\n";
  }
  for (const std::string& text : known.misfits(plan)) {
    std::cout << "warning: " << printable(text) << "\n";
  }
}

int checkPinglist(const std::string& text, const std::string& file, const pinglist::Limits& limits,
                  const po::variables_map& values) {
  auto parsed = pinglist::parse(text, file, utcNow());
  if (!parsed) return failFile(parsed.error(), kExitInvalid);
  for (const std::string& warning : parsed->warnings) std::cout << "warning: " << warning << "\n";
  std::cout << file << ": valid pinglist\n";
  printKeys(*parsed);
  Result<AskedHosts> asked{AskedHosts()};
  if (!parsed->registered.empty() || dependsOnEndpoints(parsed->plan)) asked = askHosts(values);
  if (!asked) return failFile(asked.error(), kExitCouldNotRead);
  const ShownPinglist shown = withRegistered(std::move(*parsed), *asked);
  for (const std::string& note : shown.notes) std::cout << "  note: " << printable(note) << "\n";
  printMisfits(shown.pinglist.plan, *asked);
  printCost(pinglist::costOf(shown.pinglist), limits);
  printLatency(shown.pinglist);
  std::cout << coverageText(shown.pinglist);
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
  addSiteOptions(options, kUrlHelp);
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
      return checkPinglist(*text, file, limits, values);
    case FileKind::kAgentConfig:
      return reportConfig(agent::parseConfig(*text, file), file, "an agent");
    case FileKind::kControllerConfig:
      return reportConfig(controller::parseConfig(*text, file), file, "a controller");
    case FileKind::kCollectorConfig:
      return reportConfig(collector::parseConfig(*text, file), file, "a collector");
    case FileKind::kTranslatorConfig:
      return reportConfig(translator::parseConfig(*text, file), file, "a translator");
  }
  return kExitInvalid;
}

}  // namespace pingloom::cli
