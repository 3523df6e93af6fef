#include "common/program.h"

#include <sys/signalfd.h>

#include <boost/program_options/parsers.hpp>
#include <csignal>
#include <iostream>

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
