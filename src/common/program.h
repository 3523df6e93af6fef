// The behaviour that all pingloom programs share: --help, --version, exit code 2 for unknown
// options, and an orderly shutdown on SIGINT and SIGTERM.
#pragma once

#include <boost/program_options/options_description.hpp>
#include <boost/program_options/positional_options.hpp>
#include <boost/program_options/variables_map.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/fd.h"

namespace pingloom::program {

constexpr int kExitUsage = 2;

struct Usage {
  std::string name;         // "pingloom-agent"
  std::string synopsis;     // "pingloom-agent --config FILE"
  std::string description;  // one paragraph
};

// Returns e.g. "pingloom-agent 0.1.0 (revision 1a2b3c)".
std::string versionLine(std::string_view name);
std::string version();  // e.g. "0.1.0"

// Prints one line on stderr that says what is wrong with the command line and points to --help.
// Returns kExitUsage.
int usageError(std::string_view name, std::string_view reason);

// Parses the command line, and answers --help and --version, which are added here. If it returns an
// exit code, the program has to end with it.
std::optional<int> parse(const Usage& usage, const std::vector<std::string>& arguments,
                         const boost::program_options::options_description& options,
                         const boost::program_options::positional_options_description& positional,
                         boost::program_options::variables_map& values);

// Blocks SIGINT and SIGTERM, and returns a descriptor that becomes readable when one arrives.
// SIGPIPE is ignored. Call it before any thread is started.
UniqueFd blockStopSignals();

}  // namespace pingloom::program
