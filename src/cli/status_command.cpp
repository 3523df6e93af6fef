// pingloom status: tells whether the controller and its agents are healthy.
#include <iostream>
#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "cli/controller_api.h"
#include "cli/exit_codes.h"
#include "cli/failure.h"
#include "cli/service_api.h"
#include "cli/site_options.h"
#include "cli/status_report.h"
#include "common/json_text.h"
#include "common/program.h"

namespace pingloom::cli {
namespace {

namespace po = boost::program_options;

constexpr const char* kStatusCommand = "pingloom status";

}  // namespace

int runStatus(const std::vector<std::string>& arguments) {
  const program::Usage usage{kStatusCommand, "pingloom status [--url URL] [--json]",
                             "Shows whether the mesh, the controller and its agents are healthy.\n"
                             "Exit: 0 healthy, 1 something is wrong (an incident is open that no "
                             "silence hides,\nan agent is down, the pinglist is rejected, Redis is "
                             "not connected), 2 could not ask.\n"};
  po::options_description options("Options");
  options.add_options()("json", "print one JSON document");
  addSiteOptions(options, kUrlHelp);
  po::variables_map values;
  if (const auto code = program::parse(usage, arguments, options, {}, values)) return *code;
  const auto site = controllerSite(values);
  if (!site) return fail(kStatusCommand, site.error());
  const auto status = askControllerJson(*site, "/api/v1/status", kAnswerTimeout);
  if (!status) return fail(kStatusCommand, status.error());
  const auto hosts = askControllerJson(*site, "/api/v1/hosts", kAnswerTimeout);
  if (!hosts) return fail(kStatusCommand, hosts.error());
  const auto probes = askControllerJson(*site, "/api/v1/probes", kAnswerTimeout);
  if (!probes) return fail(kStatusCommand, probes.error());
  const auto incidents = askControllerIfKnown(*site, "/api/v1/incidents", kAnswerTimeout);
  if (!incidents) return fail(kStatusCommand, incidents.error());

  const nlohmann::json verdict = incidents->value_or(nlohmann::json());
  const StatusReport report = reportStatus(*status, *hosts, *probes, verdict);
  if (values.count("json") != 0) {
    nlohmann::ordered_json document = {{"healthy", report.problems.empty()},
                                       {"problems", report.problems},
                                       {"status", *status},
                                       {"hosts", *hosts},
                                       {"probes", *probes},
                                       {"incidents", verdict}};
    std::cout << jsonLine(document) << "\n";
  } else {
    for (const std::string& line : report.lines) std::cout << line << "\n";
  }
  return report.problems.empty() ? 0 : kExitUnhealthy;
}

}  // namespace pingloom::cli
