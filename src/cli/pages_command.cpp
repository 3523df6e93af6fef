// pingloom pages: shows the metric pages that a collector reads, once or live, or checks them.
#include <poll.h>
#include <unistd.h>

#include <iostream>

#include "cli/commands.h"
#include "cli/exit_codes.h"
#include "cli/failure.h"
#include "cli/pages_report.h"
#include "cli/pages_screen.h"
#include "cli/pages_source.h"
#include "cli/service_api.h"
#include "cli/site_options.h"
#include "common/json_text.h"
#include "common/program.h"

namespace pingloom::cli {
namespace {

namespace po = boost::program_options;

constexpr const char* kPagesCommand = "pingloom pages";

struct Shown {
  bool json = false;
  bool exemplars = false;
};

// Returns false when standard output is closed.
bool printPages(const PagesAnswer& answer, const Shown& shown, bool rates) {
  if (shown.json) {
    std::cout << jsonLine(answer.json) << "\n";
  } else {
    for (const ReportLine& line : pagesLines(answer.document, {rates, 0, shown.exemplars})) {
      std::cout << line.text << "\n";
    }
  }
  return static_cast<bool>(std::cout.flush());
}

// Prints block after block when there is no terminal, until SIGINT or SIGTERM.
int watchPages(const PagesQuery& query, const Shown& shown) {
  const UniqueFd stop = program::blockStopSignals();
  PagesDocument before;
  std::string last_trouble;
  bool first = true;
  while (true) {
    auto answer = fetchPages(query, kAnswerTimeout);
    if (answer) {
      setRates(before, answer->document);
      if (!first && !shown.json) std::cout << "\n";
      first = false;
      if (!printPages(*answer, shown, true)) return 0;
      before = std::move(answer->document);
    }
    const std::string trouble = answer ? "" : answer.error().text();
    if (!trouble.empty() && trouble != last_trouble) {  // once, not each second
      complain(kPagesCommand, answer.error());
    }
    last_trouble = trouble;
    pollfd waiting{stop.get(), POLLIN, 0};
    if (poll(&waiting, 1, 1000) > 0) return 0;
  }
}

// With --json the problems go to standard error, because the document is on standard output.
int verdict(const PagesDocument& document, bool json) {
  const auto problems = pagesProblems(document);
  std::ostream& out = json ? std::cerr : std::cout;
  out << "\n";
  for (const std::string& problem : problems) out << problem << "\n";
  if (problems.empty()) out << "every agent is read, and every page is fresh\n";
  return problems.empty() ? 0 : kExitPageProblems;
}

}  // namespace

int runPages(const std::vector<std::string>& arguments) {
  const program::Usage usage{
      kPagesCommand,
      "pingloom pages [--agent A] [--watch | --check] [--exemplars] [--json] [--url U]",
      "Shows the metric pages of applications as a collector last read them, in a table for each\n"
      "agent. Histograms and summaries are shown as count, mean and quantiles; --watch adds "
      "rates.\n"
      "Keys of the live view: q quit, arrows scroll.\n"
      "Exit: 0 shown; with --check 1 unless every agent is read and every page is fresh and has a\n"
      "metric; 2 could not ask.\n"};
  po::options_description options("Options");
  options.add_options()(
      "agent", po::value<std::string>()->default_value("", ""),
      "show only this agent: its host's name, or its ADDRESS:PORT at the collector")(
      "watch", "refresh once a second; without a terminal print block after block")(
      "check", "list what is not read, not fresh or empty, and exit 1 if there is any")(
      "exemplars", "list values with the traces that they belong to, where applications say them")(
      "json", "print the collector's document");
  addSiteOptions(options, "the collector's address (default: http://127.0.0.1:20715)");
  po::variables_map values;
  if (const auto code = program::parse(usage, arguments, options, {}, values)) return *code;
  const auto site = siteOf(values, nullptr, kDefaultCollectorUrl);
  if (!site) return fail(kPagesCommand, site.error());
  const PagesQuery query{*site, values["agent"].as<std::string>()};
  const Shown shown{values.count("json") != 0, values.count("exemplars") != 0};
  const bool check = values.count("check") != 0;
  if (values.count("watch") != 0) {
    if (check) return fail(kPagesCommand, {"", "--check looks once: leave --watch out"});
    const bool terminal = isatty(STDIN_FILENO) != 0 && isatty(STDOUT_FILENO) != 0;
    return terminal && !shown.json ? PagesScreen(query, shown.exemplars).run()
                                   : watchPages(query, shown);
  }
  const auto answer = fetchPages(query, kAnswerTimeout);
  if (!answer) return fail(kPagesCommand, answer.error());
  printPages(*answer, shown, false);
  return check ? verdict(answer->document, shown.json) : 0;
}

}  // namespace pingloom::cli
