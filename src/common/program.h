// What every pingloom program does the same way: --help, --version, unknown options exit 2, and an
// orderly end on SIGINT and SIGTERM.
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
  std::string description;  // a paragraph
};

// "pingloom-agent 0.1.0 (revision 1a2b3c)".
std::string versionLine(std::string_view name);
std::string version();  // "0.1.0"

// One line on stderr: what is wrong with the command line, and where its explanation is. Gives
// kExitUsage.
int usageError(std::string_view name, std::string_view reason);

// Parses and answers --help and --version (added here). The program ends with the exit code where
// one is returned.
std::optional<int> parse(const Usage& usage, const std::vector<std::string>& arguments,
                         const boost::program_options::options_description& options,
                         const boost::program_options::positional_options_description& positional,
                         boost::program_options::variables_map& values);

// Blocks SIGINT and SIGTERM (call before any thread is started) and gives a descriptor that is
// readable once one of them came. SIGPIPE is ignored.
UniqueFd blockStopSignals();

}  // namespace pingloom::program
