// pingloom incidents: shows what the controller judges to be wrong, and acknowledges it.
#include <fmt/format.h>
#include <poll.h>

#include <iostream>

#include "cli/commands.h"
#include "cli/controller_api.h"
#include "cli/exit_codes.h"
#include "cli/failure.h"
#include "cli/incident_report.h"
#include "cli/json_fields.h"
#include "cli/operator_options.h"
#include "cli/service_api.h"
#include "cli/site_options.h"
#include "common/json_text.h"
#include "common/program.h"
#include "common/text.h"

namespace pingloom::cli {
namespace {

namespace po = boost::program_options;
using Json = nlohmann::json;

constexpr const char* kIncidentsCommand = "pingloom incidents";
constexpr const char* kAckCommand = "pingloom incidents ack";
constexpr Nanos kPast = 24 * kHour;
constexpr std::uint64_t kMaxPast = 10'000;

// Ids are numbers, so that nothing else gets into the path of the request.
Result<std::string> incidentPath(const std::string& id) {
  if (!parseUnsigned(id, UINT64_MAX)) {
    return makeError("'" + id + "'", "is no incident's ID, such as 17");
  }
  return "/api/v1/incidents/" + id;
}

void printLines(const std::vector<std::string>& lines) {
  for (const std::string& line : lines) std::cout << line << "\n";
}

int showOne(const http::Site& site, const std::string& id, bool json) {
  const auto path = incidentPath(id);
  if (!path) return usageError(kIncidentsCommand, path.error());
  const auto incident = askControllerJson(site, *path, kAnswerTimeout);
  if (!incident) return fail(kIncidentsCommand, incident.error());
  if (json) {
    std::cout << jsonLine(*incident) << "\n";
  } else {
    printLines(incidentDetails(*incident));
  }
  return needsAttention(*incident) ? kExitIncidents : 0;
}

Result<Nanos> timeOption(const po::variables_map& values, const char* option, Nanos otherwise) {
  if (values.count(option) == 0) return otherwise;
  const auto time = parseUtc(values[option].as<std::string>());
  if (!time) return makeError(std::string("--") + option, time.error().text());
  return *time;
}

int showPast(const http::Site& site, const po::variables_map& values) {
  const auto to = timeOption(values, "to", utcNow());
  if (!to) return usageError(kIncidentsCommand, to.error());
  const auto from = timeOption(values, "from", *to - std::min(kPast, *to));
  if (!from) return usageError(kIncidentsCommand, from.error());
  const auto number = values["number"].as<std::uint64_t>();
  if (number < 1 || number > kMaxPast) {
    return usageError(kIncidentsCommand, {"--number", fmt::format("must be 1 to {}", kMaxPast)});
  }
  const auto answer =
      askControllerJson(site,
                        fmt::format("/api/v1/history/incidents?from={}&to={}&limit={}",
                                    formatUtc(*from), formatUtc(*to), number),
                        kAnswerTimeout);
  if (!answer) return fail(kIncidentsCommand, answer.error());
  if (values.count("json") != 0) {
    std::cout << jsonLine(*answer) << "\n";
  } else {
    printLines(incidentTable(fieldAt(*answer, "/incidents")));
  }
  return 0;
}

int showOpen(const http::Site& site, bool json) {
  const auto answer = askControllerJson(site, "/api/v1/incidents", kAnswerTimeout);
  if (!answer) return fail(kIncidentsCommand, answer.error());
  if (json) {
    std::cout << jsonLine(*answer) << "\n";
  } else {
    printLines(incidentTable(fieldAt(*answer, "/open")));
  }
  return countAttention(*answer) > 0 ? kExitIncidents : 0;
}

// Returns false when standard output is closed.
bool printChanges(const std::vector<IncidentChange>& changes, Nanos now_utc, bool json) {
  const std::string now = formatUtc(now_utc / kSecond * kSecond);
  for (const IncidentChange& change : changes) {
    if (json) {
      std::cout << jsonLine(nlohmann::json{
                       {"at", now}, {"change", change.what}, {"incident", change.incident}})
                << "\n";
    } else {
      std::cout << fmt::format("{}  {:<7}  {}  {}\n", now, change.what,
                               shownAt(change.incident, "/id"), incidentSummary(change.incident));
    }
  }
  return static_cast<bool>(std::cout.flush());
}

// Prints a line for each change until SIGINT or SIGTERM, beginning with what is open.
int watchIncidents(const http::Site& site, bool json) {
  const UniqueFd stop = program::blockStopSignals();
  IncidentChanges changes;
  std::string last_trouble;
  while (true) {
    const auto answer = askControllerJson(site, "/api/v1/incidents", kAnswerTimeout);
    if (answer && !printChanges(changes.of(*answer), utcNow(), json)) return 0;
    const std::string trouble = answer ? "" : answer.error().text();
    if (!trouble.empty() && trouble != last_trouble) {  // once, not each second
      complain(kIncidentsCommand, answer.error());
    }
    last_trouble = trouble;
    pollfd waiting{stop.get(), POLLIN, 0};
    if (poll(&waiting, 1, 1000) > 0) return 0;
  }
}

int acknowledgeIncident(const std::vector<std::string>& arguments) {
  const program::Usage usage{
      kAckCommand, "pingloom incidents ack ID [--by NAME] [--comment TEXT] [--undo]",
      "Tells other people that somebody takes care of an incident. It stays open.\n"
      "The controller needs a token of the role operate for it, if it needs tokens at all.\n"
      "Exit: 0 done, 2 could not ask, or refused.\n"};
  po::options_description options("Options");
  options.add_options()("id", po::value<std::string>()->required()->value_name("ID"),
                        "the incident")("undo", "take the acknowledgement back");
  addOperatorOptions(options);
  addSiteOptions(options, kUrlHelp);
  po::variables_map values;
  const auto places = po::positional_options_description().add("id", 1);
  if (const auto code = program::parse(usage, arguments, options, places, values)) return *code;
  const auto path = incidentPath(values["id"].as<std::string>());
  if (!path) return usageError(kAckCommand, path.error());
  Json body = {{"acknowledge", values.count("undo") == 0}};
  if (auto status = setOperator(values, body); !status) {
    return usageError(kAckCommand, status.error());
  }
  const auto site = controllerSite(values);
  if (!site) return fail(kAckCommand, site.error());
  const auto incident = tellController(*site, {"POST", *path, jsonLine(body)}, kAnswerTimeout);
  if (!incident) return fail(kAckCommand, incident.error());
  std::cout << shownAt(*incident, "/id") << "  " << incidentSummary(*incident) << "\n";
  return 0;
}

po::options_description incidentsOptions() {
  po::options_description options("Options");
  options.add_options()("id", po::value<std::string>()->value_name("ID"),
                        "show this incident with its evidence")(
      "watch", "keep running, and show each incident when it opens, changes or closes")(
      "json", "print the controller's document; with --watch one document per line")(
      "past", "show the incidents of the last 24 hours, the newest first")(
      "from", po::value<std::string>()->value_name("TIME"), "with --past: since then")(
      "to", po::value<std::string>()->value_name("TIME"), "with --past: until then")(
      "number,n", po::value<std::uint64_t>()->default_value(100), "with --past: at most so many");
  addSiteOptions(options, kUrlHelp);
  return options;
}

}  // namespace

int runIncidents(const std::vector<std::string>& arguments) {
  if (!arguments.empty() && arguments.front() == "ack") {
    return acknowledgeIncident({arguments.begin() + 1, arguments.end()});
  }
  const program::Usage usage{
      kIncidentsCommand,
      "pingloom incidents [ID | --watch | --past] [--json] [--url U]\n"
      "       pingloom incidents ack ID [--by NAME] [--comment TEXT] [--undo]",
      "Shows what the controller judges to be wrong with hosts, groups and pairs.\n"
      "Exit: 0 nothing is open (or with ID: it is closed), 1 an incident is open that no silence\n"
      "hides, 2 could not ask. With --past and --watch 0 unless it could not ask.\n"};
  po::variables_map values;
  const auto places = po::positional_options_description().add("id", 1);
  if (const auto code = program::parse(usage, arguments, incidentsOptions(), places, values)) {
    return *code;
  }
  const bool watch = values.count("watch") != 0;
  const bool past = values.count("past") != 0;
  const bool one = values.count("id") != 0;
  if (static_cast<int>(watch) + static_cast<int>(past) + static_cast<int>(one) > 1) {
    return usageError(kIncidentsCommand, {"", "ID, --watch and --past exclude each other"});
  }
  if (!past && (values.count("from") != 0 || values.count("to") != 0)) {
    return usageError(kIncidentsCommand, {"", "--from and --to need --past"});
  }
  const auto site = controllerSite(values);
  if (!site) return fail(kIncidentsCommand, site.error());
  const bool json = values.count("json") != 0;
  if (one) return showOne(*site, values["id"].as<std::string>(), json);
  if (past) return showPast(*site, values);
  return watch ? watchIncidents(*site, json) : showOpen(*site, json);
}

}  // namespace pingloom::cli
