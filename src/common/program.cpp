#include "common/program.h"

#include <sys/signalfd.h>

#include <algorithm>
#include <boost/program_options/parsers.hpp>
#include <csignal>
#include <iostream>
#include <sstream>
#include <utility>

#include "pingloom_version.h"

namespace pingloom::program {

namespace po = boost::program_options;

std::string version() { return PINGLOOM_VERSION; }

std::string versionLine(std::string_view name) {
  return std::string(name) + " " PINGLOOM_VERSION " (revision " PINGLOOM_REVISION ")";
}

int usageError(std::string_view name, std::string_view reason) {
  std::cerr << name << ": " << reason << "; see '" << name << " --help'\n";
  return kExitUsage;
}

namespace {

bool isPositional(const std::string& option, const po::positional_options_description& positional) {
  constexpr unsigned kPlaces = 8;  // more than any command names one by one
  const unsigned places = std::min(positional.max_total_count(), kPlaces);
  for (unsigned i = 0; i < places; ++i) {
    if ("--" + positional.name_for_position(i) == option) return true;
  }
  return false;
}

// The arguments without a dash that the synopsis does not put in brackets: "TABLE and KEY" of
// "pingloom dta get TABLE KEY [--file FILE] --max N".
std::string neededArguments(const Usage& usage, std::string_view synopsis) {
  std::string needed;
  bool several = false;
  bool value = false;  // of an option
  int brackets = 0;
  std::istringstream words{
      std::string(synopsis.substr(std::min(usage.name.size(), synopsis.size())))};
  for (std::string word; words >> word;) {
    const bool outside = brackets == 0;
    brackets += static_cast<int>(std::count(word.begin(), word.end(), '['));
    brackets -= static_cast<int>(std::count(word.begin(), word.end(), ']'));
    if (!outside || word.front() == '[') continue;
    const bool is_value =
        std::exchange(value, word.front() == '-' || word.find("|--") != word.npos);
    if (is_value || value) continue;
    several = !needed.empty();
    needed += (several ? " and " : "") + word;
  }
  return needed + (several ? " are needed" : " is needed");
}

}  // namespace

std::optional<int> parse(const Usage& usage, const std::vector<std::string>& arguments,
                         const po::options_description& options,
                         const po::positional_options_description& positional,
                         po::variables_map& values) {
  po::options_description general("General");
  general.add_options()("help,h", "show this help")("version", "show version and revision");
  po::options_description visible;
  visible.add(options).add(general);
  try {
    po::store(
        po::command_line_parser(arguments)
            .options(visible)
            .positional(positional)
            .style(po::command_line_style::unix_style & ~po::command_line_style::allow_guessing)
            .run(),
        values);
    if (values.count("help") != 0) {
      std::cout << "Usage: " << usage.synopsis << "\n\n" << usage.description << "\n" << visible;
      return 0;
    }
    if (values.count("version") != 0) {
      std::cout << versionLine(usage.name) << "\n";
      return 0;
    }
    po::notify(values);
  } catch (const po::required_option& missing) {
    const std::string first_form = usage.synopsis.substr(0, usage.synopsis.find('\n'));
    const std::string what = isPositional(missing.get_option_name(), positional)
                                 ? neededArguments(usage, first_form)
                                 : std::string(missing.what());
    return usageError(usage.name, what + "; usage: " + first_form);
  } catch (const po::error& failure) {
    const std::string first_form = usage.synopsis.substr(0, usage.synopsis.find('\n'));
    return usageError(usage.name, std::string(failure.what()) + "; usage: " + first_form);
  }
  return std::nullopt;
}

UniqueFd blockStopSignals() {
  std::signal(SIGPIPE, SIG_IGN);
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGINT);
  sigaddset(&set, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
  return UniqueFd(signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK));
}

}  // namespace pingloom::program
