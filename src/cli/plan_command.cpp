// pingloom plan: shows what one host would probe according to a pinglist.
#include <fmt/format.h>

#include <algorithm>
#include <iostream>
#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "cli/controller_api.h"
#include "cli/exit_codes.h"
#include "cli/input_file.h"
#include "cli/pinglist_cost.h"
#include "cli/pinglist_members.h"
#include "cli/site_options.h"
#include "cli/text_table.h"
#include "common/duration.h"
#include "common/json_text.h"
#include "common/program.h"
#include "common/text.h"
#include "pinglist/pinglist.h"
#include "plan/flow_labels.h"

namespace pingloom::cli {
namespace {

namespace po = boost::program_options;
using nlohmann::ordered_json;
using pinglist::Pinglist;

program::Usage planUsage() {
  return {
      "pingloom plan", "pingloom plan FILE --host HOST [--json] [--url URL]",
      "Shows what HOST would probe according to the pinglist FILE. HOST is a host's name, one "
      "of its\n"
      "addresses (NAME/LABEL) or an IP address. Agents that 'registered' in it stands for are\n"
      "asked of a running controller. If a probe has a 'plan', what all hosts together probe and\n"
      "cover is shown too.\n\n"
      "Exit code: 0 done, 1 invalid pinglist or unknown host, 2 could not read FILE."};
}

std::vector<std::string> knownHosts(const Pinglist& list) {
  std::vector<std::string> known;
  for (const pinglist::Host& host : list.hosts) known.push_back(host.name);
  for (const auto& [address, name] : list.names) known.push_back(name);
  for (const IpAddress& address : plan::allAddresses(list.plan)) known.push_back(address.text());
  std::sort(known.begin(), known.end());
  return known;
}

Result<std::vector<IpAddress>> addressesOf(const Pinglist& list, const std::string& wanted) {
  std::vector<IpAddress> found;
  for (const pinglist::Host& host : list.hosts) {
    for (const auto& [label, address] : host.addresses) {
      if (host.name == wanted || list.nameOf(address) == wanted) found.push_back(address);
    }
  }
  if (!found.empty()) return found;
  if (const auto address = IpAddress::parse(wanted)) {
    const plan::AddressList all = plan::allAddresses(list.plan);
    if (list.names.contains(*address) || std::binary_search(all.begin(), all.end(), *address)) {
      return std::vector<IpAddress>{*address};
    }
  }
  const std::vector<std::string> known = knownHosts(list);
  return makeError("host '" + wanted + "'",
                   "is not in the pinglist" + didYouMean(wanted, {known.begin(), known.end()}));
}

double rateOf(const plan::Assignment& assignment) {
  return static_cast<double>(assignment.destinations.size()) * assignment.probe.paths *
         static_cast<double>(kSecond) / static_cast<double>(assignment.probe.interval);
}

double rateOf(const std::vector<plan::Assignment>& assignments) {
  double sum = 0;
  for (const plan::Assignment& assignment : assignments) sum += rateOf(assignment);
  return sum;
}

ordered_json toJson(const plan::Assignment& assignment) {
  const plan::ProbeSpec& probe = assignment.probe;
  ordered_json destinations = ordered_json::array();
  for (const IpAddress& address : assignment.destinations) destinations.push_back(address.text());
  ordered_json made = {{"probe", probe.name},
                       {"protocol", name(probe.protocol)},
                       {"source", assignment.source.text()},
                       {"interval_ns", probe.interval},
                       {"timeout_ns", probe.timeout},
                       {"window_ns", probe.window},
                       {"traffic_class", probe.traffic_class}};
  if (probe.protocol != Protocol::kTcp) made["payload"] = probe.payload;
  if (probe.port != 0) made["port"] = probe.port;
  if (probe.protocol == Protocol::kRdma) {
    made["paths"] = probe.paths;
    made["equal_paths_covered"] = plan::pathsCovered(probe.paths);
    if (probe.service_level) made["service_level"] = *probe.service_level;
    if (probe.gid_index) made["gid_index"] = *probe.gid_index;
  }
  made["pings_per_second"] = rateOf(assignment);
  made["destination_count"] = assignment.destinations.size();
  made["destinations"] = std::move(destinations);
  return made;
}

void printJson(const Pinglist& list, const std::string& host,
               const std::vector<IpAddress>& addresses,
               const std::vector<plan::Assignment>& assignments) {
  ordered_json document = {{"host", host},
                           {"addresses", ordered_json::array()},
                           {"pings_per_second", rateOf(assignments)},
                           {"probes", ordered_json::array()}};
  for (const IpAddress& address : addresses) document["addresses"].push_back(address.text());
  for (const plan::Assignment& assignment : assignments) {
    document["probes"].push_back(toJson(assignment));
  }
  document["all_hosts"] = costJson(list);
  // The host comes from the command line and may be anything.
  std::cout << jsonText(document) << "\n";
}

// "10.0.0.1 (gpu-001)".
std::string shown(const Pinglist& list, const IpAddress& address) {
  const auto found = list.names.find(address);
  return found == list.names.end() ? address.text() : address.text() + " (" + found->second + ")";
}

// Prints which values of `paths` cover how many paths, for the probes that can have several.
void printCoverage(const std::vector<plan::Assignment>& assignments) {
  const bool rdma = std::any_of(assignments.begin(), assignments.end(), [](const auto& one) {
    return one.probe.protocol == Protocol::kRdma;
  });
  if (!rdma) return;
  std::string text;
  for (const std::uint32_t paths : {2U, 4U, 8U, 16U, 32U, 64U}) {
    text += fmt::format("{}{} for {}", text.empty() ? "" : ", ", plan::labelsToCover(paths), paths);
  }
  std::cout << fmt::format(
      "\nFlow labels that cover k equal paths of the fabric with probability {}: {}\n",
      plan::kCoverage, text);
}

void printText(const Pinglist& list, const std::string& host,
               const std::vector<plan::Assignment>& assignments) {
  if (assignments.empty()) {
    std::cout << host << " probes nothing\n";
    return;
  }
  std::cout << fmt::format("{}: {:.6g} pings/s\n", host, rateOf(assignments));
  for (const plan::Assignment& assignment : assignments) {
    const plan::ProbeSpec& probe = assignment.probe;
    const std::size_t count = assignment.destinations.size();
    const std::string port = probe.port == 0 ? "" : fmt::format(", port {}", probe.port);
    const std::string paths = probe.paths == 1 ? "" : fmt::format(" on {} paths", probe.paths);
    std::cout << fmt::format("\n{}  {}{}  from {}\n  {} destination{} every {}{}: {:.6g} pings/s\n",
                             probe.name, name(probe.protocol), port, shown(list, assignment.source),
                             count, count == 1 ? "" : "s", formatDuration(probe.interval), paths,
                             rateOf(assignment));
    if (probe.paths > 1) {
      const std::uint32_t covered = plan::pathsCovered(probe.paths);
      std::cout << fmt::format("  {} flow labels cover {} equal path{} with probability {}\n",
                               probe.paths, covered, covered == 1 ? "" : "s", plan::kCoverage);
    }
    for (const IpAddress& address : assignment.destinations) {
      std::cout << "    " << shown(list, address) << "\n";
    }
  }
  printCoverage(assignments);
  if (const std::string text = coverageText(list); !text.empty()) {
    std::cout << "\nAll hosts together\n" << costText(pinglist::costOf(list)) << text;
  }
}

}  // namespace

int runPlan(const std::vector<std::string>& arguments) {
  po::options_description options("Options");
  options.add_options()("file", po::value<std::string>()->required()->value_name("FILE"),
                        "the pinglist")(
      "host", po::value<std::string>()->required()->value_name("HOST"), "whose plan to show")(
      "json", "as one JSON document, times in nanoseconds");
  addSiteOptions(options, kUrlHelp);
  po::variables_map values;
  const auto positional = po::positional_options_description().add("file", 1);
  if (const auto code = program::parse(planUsage(), arguments, options, positional, values)) {
    return *code;
  }
  const auto& file = values["file"].as<std::string>();
  const auto text = readInputFile(file);
  if (!text) return failFile(text.error(), kExitCouldNotRead);
  auto parsed = pinglist::parse(*text, file);
  if (!parsed) return failFile(parsed.error(), kExitInvalid);
  auto shown = withRegistered(std::move(*parsed), values);
  if (!shown) return failFile(shown.error(), kExitCouldNotRead);
  const Pinglist* const list = &shown->pinglist;
  const auto& host = values["host"].as<std::string>();
  const auto addresses = addressesOf(*list, host);
  if (!addresses) {
    for (const std::string& note : shown->notes) std::cerr << "note: " << printable(note) << "\n";
    return failFile(addresses.error(), kExitInvalid);
  }
  const auto assignments = plan::assignmentsOf(list->plan, *addresses);
  if (values.count("json") != 0) {
    printJson(*list, host, *addresses, assignments);
  } else {
    printText(*list, host, assignments);
  }
  return 0;
}

}  // namespace pingloom::cli
