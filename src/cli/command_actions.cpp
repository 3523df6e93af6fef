#include "cli/command_actions.h"

#include <fmt/format.h>

#include <iostream>

#include "cli/controller_api.h"
#include "cli/failure.h"
#include "cli/service_api.h"
#include "cli/site_options.h"
#include "common/json_text.h"
#include "common/text.h"

namespace pingloom::cli {
namespace po = boost::program_options;

ActionUsage::ActionUsage(const std::string& command, const std::string& name,
                         const std::string& synopsis, std::string description)
    : usage{command + " " + name, command + " " + name + (synopsis.empty() ? "" : " ") + synopsis,
            std::move(description)} {}

void ActionUsage::takesArgument(const char* argument, const char* what) {
  positional = argument;
  options.add_options()(argument, po::value<std::string>()->required(), what);
}

void ActionUsage::takesArguments(const char* argument, const char* what) {
  positional = argument;
  places = -1;
  options.add_options()(argument, po::value<std::vector<std::string>>()->required(), what);
}

std::optional<int> ActionUsage::parse(const std::vector<std::string>& arguments,
                                      po::variables_map& values) const {
  po::positional_options_description described;
  if (!positional.empty()) described.add(positional.c_str(), places);
  return program::parse(usage, arguments, options, described, values);
}

int runAction(const std::string& command, const std::string& about,
              const std::vector<CommandAction>& actions,
              const std::vector<std::string>& arguments) {
  std::string list = "Actions:\n";
  std::vector<std::string_view> names;
  for (const CommandAction& action : actions) {
    names.push_back(action.name);
    if (!arguments.empty() && arguments.front() == action.name) {
      return action.run({arguments.begin() + 1, arguments.end()});
    }
    list += fmt::format("  {:<10} {}\n", action.name, action.summary);
  }
  const program::Usage usage{
      command, command + " ACTION [OPTION]...",
      about + "\n\n" + list + "\n'" + command + " ACTION --help' explains one."};
  po::variables_map values;
  if (arguments.empty() || arguments.front().starts_with('-')) {
    if (const auto code = program::parse(usage, arguments, {}, {}, values)) return *code;
    std::cerr << "Usage: " << usage.synopsis << "\n\n" << usage.description << "\n";
    return program::kExitUsage;
  }
  return program::usageError(usage.name, "unknown action '" + arguments.front() + "'" +
                                             didYouMean(arguments.front(), names));
}

int runShowAction(ActionUsage action, const std::vector<std::string>& arguments, const char* path,
                  void (*print)(const nlohmann::json& document)) {
  action.options.add_options()("json", "print the controller's document");
  addSiteOptions(action.options, kUrlHelp);
  po::variables_map values;
  if (const auto code = action.parse(arguments, values)) return *code;
  const auto site = controllerSite(values);
  if (!site) return fail(action.usage.name, site.error());
  const auto answer = askControllerJson(*site, path, kAnswerTimeout);
  if (!answer) return fail(action.usage.name, answer.error());
  if (values.count("json") != 0) {
    std::cout << jsonLine(*answer) << "\n";
  } else {
    print(*answer);
  }
  return 0;
}

}  // namespace pingloom::cli
