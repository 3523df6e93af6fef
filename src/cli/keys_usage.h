// What the actions of `pingloom keys` share. Main thread.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "cli/command_actions.h"
#include "common/error.h"
#include "controller/config.h"

namespace pingloom::cli {

constexpr const char* kKeysCommand = "pingloom keys";

// Reports the error and returns the exit code for "not done".
int failKeys(const Error& error);

struct KeysUsage : ActionUsage {
  KeysUsage(const std::string& name, const std::string& synopsis, const std::string& description);

  // Adds --file, the list of authorised keys, and --config, the configuration that names it.
  void takesFile();
  // Adds --config alone.
  void takesConfig();
};

// Returns the list that --file or the controller's configuration names.
Result<std::filesystem::path> listFile(const boost::program_options::variables_map& values);
// Reads the controller's configuration, which has to have keys.
Result<controller::Config> keyedConfig(const boost::program_options::variables_map& values);
// Splits LIST at its commas.
std::vector<std::string> listedWords(const std::string& list);

// The actions, in files of their own.
int joinWithKey(const std::vector<std::string>& arguments);
int prepareController(const std::vector<std::string>& arguments);
int runTokens(const std::vector<std::string>& arguments);
int showPending(const std::vector<std::string>& arguments);
int approveKeys(const std::vector<std::string>& arguments);
int rejectKeys(const std::vector<std::string>& arguments);

}  // namespace pingloom::cli
