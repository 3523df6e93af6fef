// pingloom: the command line of the whole system. commands.h lists the commands.
#include <fmt/format.h>

#include <iostream>

#include "cli/commands.h"
#include "common/program.h"
#include "common/text.h"

namespace {

using pingloom::cli::Command;
using pingloom::cli::kCommands;

std::string description() {
  std::string text = "Commands:\n";
  for (const Command& command : kCommands) {
    text += fmt::format("  {:<11} {}\n", command.name, command.summary);
  }
  return text + "\n'pingloom COMMAND --help' explains one.";
}

const Command* find(std::string_view name) {
  for (const Command& command : kCommands) {
    if (command.name == name) return &command;
  }
  return nullptr;
}

int refuse(std::string_view word) {
  std::vector<std::string_view> names;
  names.reserve(kCommands.size());
  for (const Command& command : kCommands) names.push_back(command.name);
  return pingloom::program::usageError("pingloom", "unknown command '" + std::string(word) + "'" +
                                                       pingloom::didYouMean(word, names));
}

// Handles a command line without a command: --help, --version or a mistake.
int runGeneral(const std::vector<std::string>& arguments) {
  namespace program = pingloom::program;
  const program::Usage usage{"pingloom", "pingloom COMMAND [OPTION]...", description()};
  boost::program_options::variables_map values;
  if (const auto code = program::parse(usage, arguments, {}, {}, values)) return *code;
  std::cerr << "Usage: " << usage.synopsis << "\n\n" << usage.description << "\n";
  return program::kExitUsage;
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<std::string> arguments(argv + 1, argv + argc);
  if (arguments.empty() || arguments.front().starts_with('-')) return runGeneral(arguments);
  const Command* command = find(arguments.front());
  if (command == nullptr) return refuse(arguments.front());
  arguments.erase(arguments.begin());
  return command->run(arguments);
}
