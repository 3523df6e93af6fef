// pingloom events: shows what changed in the past.
#include <fmt/format.h>

#include <iostream>

#include "cli/commands.h"
#include "cli/controller_api.h"
#include "cli/event_report.h"
#include "cli/failure.h"
#include "cli/json_fields.h"
#include "cli/service_api.h"
#include "cli/site_options.h"
#include "common/address.h"
#include "common/json_text.h"
#include "common/program.h"
#include "common/time.h"
#include "http/url.h"

namespace pingloom::cli {
namespace {

namespace po = boost::program_options;
using Json = nlohmann::json;

constexpr const char* kEventsCommand = "pingloom events";
constexpr std::uint64_t kMaxEvents = 10'000;

// The query that the options stand for. The controller checks the rest of it.
Result<std::string> eventQuery(const po::variables_map& values) {
  const auto number = values["number"].as<std::uint64_t>();
  if (number < 1 || number > kMaxEvents) {
    return makeError("--number", fmt::format("must be 1 to {}", kMaxEvents));
  }
  std::string query = fmt::format("?limit={}", number);
  for (const char* option : {"from", "to"}) {
    if (values.count(option) == 0) continue;
    const auto time = parseUtc(values[option].as<std::string>());
    if (!time) return makeError(std::string("--") + option, time.error().text());
    query += fmt::format("&{}={}", option, formatUtc(*time));
  }
  for (const auto& [option, parameter] :
       {std::pair("src", "source"), std::pair("dst", "destination")}) {
    if (values.count(option) == 0) continue;
    const auto address = IpAddress::parse(values[option].as<std::string>());
    if (!address) return makeError(std::string("--") + option, address.error().text());
    query += fmt::format("&{}={}", parameter, http::percentEncoded(address->text()));
  }
  if (values.count("probe") != 0) {
    query += "&probe=" + http::percentEncoded(values["probe"].as<std::string>());
  }
  return query;
}

}  // namespace

int runEvents(const std::vector<std::string>& arguments) {
  const program::Usage usage{
      kEventsCommand,
      "pingloom events [--probe P] [--src A] [--dst A] [--from T] [--to T] [--json] [--url U]",
      "Shows what changed within the last hour, or another time: states and severities of pairs,\n"
      "and flows that took another path through the fabric (docs/paths.md).\n"
      "Exit: 0 shown, 2 could not ask.\n"};
  po::options_description options("Options");
  options.add_options()("probe", po::value<std::string>(), "only this probe")(
      "src", po::value<std::string>()->value_name("ADDRESS"),
      "only what may concern pairs from there")("dst",
                                                po::value<std::string>()->value_name("ADDRESS"),
                                                "only what may concern pairs to there")(
      "from", po::value<std::string>()->value_name("TIME"), "since then")(
      "to", po::value<std::string>()->value_name("TIME"), "until then")(
      "number,n", po::value<std::uint64_t>()->default_value(100),
      "at most so many of states, and of paths; the newest")(
      "json", "print the controller's two answers, one line each");
  addSiteOptions(options, kUrlHelp);
  po::variables_map values;
  if (const auto code = program::parse(usage, arguments, options, {}, values)) return *code;
  const auto query = eventQuery(values);
  if (!query) return usageError(kEventsCommand, query.error());
  const auto site = controllerSite(values);
  if (!site) return fail(kEventsCommand, site.error());
  const auto events = askControllerJson(*site, "/api/v1/history/events" + *query, kAnswerTimeout);
  if (!events) return fail(kEventsCommand, events.error());
  const auto paths = askControllerJson(*site, "/api/v1/history/paths" + *query, kAnswerTimeout);
  if (!paths) return fail(kEventsCommand, paths.error());
  if (values.count("json") != 0) {
    std::cout << jsonLine(*events) << "\n" << jsonLine(*paths) << "\n";
    return 0;
  }
  for (const auto& line : eventLines(listAt(*events, "/events"), listAt(*paths, "/changes"))) {
    std::cout << line << "\n";
  }
  return 0;
}

}  // namespace pingloom::cli
