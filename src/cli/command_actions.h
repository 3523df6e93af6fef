// Commands that consist of actions: `pingloom keys generate`, `pingloom silence add`. Main thread.
#pragma once

#include <boost/program_options/options_description.hpp>
#include <boost/program_options/variables_map.hpp>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/program.h"

namespace pingloom::cli {

struct CommandAction {
  std::string_view name;
  std::string_view summary;
  int (*run)(const std::vector<std::string>& arguments);  // what follows the action's name
};

// Runs the action that the first argument names. Answers --help with the list of actions.
int runAction(const std::string& command, const std::string& about,
              const std::vector<CommandAction>& actions, const std::vector<std::string>& arguments);

// The usage of one action: its options and its positional arguments.
struct ActionUsage {
  program::Usage usage;
  boost::program_options::options_description options{"Options"};
  std::string positional;
  int places = 1;  // -1: any number

  // `command` is "pingloom keys", and `name` the action's.
  ActionUsage(const std::string& command, const std::string& name, const std::string& synopsis,
              std::string description);

  void takesArgument(const char* argument, const char* what);
  // At least one argument, of type std::vector<std::string>.
  void takesArguments(const char* argument, const char* what);
  // As program::parse().
  std::optional<int> parse(const std::vector<std::string>& arguments,
                           boost::program_options::variables_map& values) const;
};

// Runs an action that shows a document of the controller: as it is with --json, otherwise by
// `print`. Adds the options that this needs.
int runShowAction(ActionUsage action, const std::vector<std::string>& arguments, const char* path,
                  void (*print)(const nlohmann::json& document));

}  // namespace pingloom::cli
