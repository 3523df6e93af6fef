#include "cli/keys_usage.h"

#include <algorithm>

#include "cli/exit_codes.h"
#include "cli/failure.h"
#include "cli/input_file.h"

namespace pingloom::cli {
namespace {

namespace po = boost::program_options;

constexpr const char* kControllerConfig = "/etc/pingloom/controller.yaml";

}  // namespace

int failKeys(const Error& error) { return fail(kKeysCommand, error, kExitKeysNotDone); }

KeysUsage::KeysUsage(const std::string& name, const std::string& synopsis,
                     const std::string& description)
    : ActionUsage(kKeysCommand, name, synopsis,
                  description + "\n\nExit code: 0 done, 1 not done, 2 usage.") {}

void KeysUsage::takesConfig() {
  options.add_options()(
      "config", po::value<std::string>()->default_value(kControllerConfig)->value_name("FILE"),
      "the controller's configuration, with its 'keys'");
}

void KeysUsage::takesFile() {
  options.add_options()("file,f", po::value<std::string>()->value_name("FILE"),
                        "the controller's list; default: 'keys.authorized' of --config");
  takesConfig();
}

Result<controller::Config> keyedConfig(const po::variables_map& values) {
  const auto file = values["config"].as<std::string>();
  const auto text = readInputFile(file);
  if (!text) return tl::unexpected(text.error());
  auto config = controller::parseConfig(*text, file);
  if (!config) return tl::unexpected(config.error());
  if (!config->keys) {
    return makeError(file, "has no 'keys'; `pingloom keys prepare` says what to write");
  }
  return config;
}

Result<std::filesystem::path> listFile(const po::variables_map& values) {
  if (values.count("file") != 0) return values["file"].as<std::string>();
  const auto config = keyedConfig(values);
  if (!config) {
    return makeError(config.error().entity,
                     config.error().reason + "; --file names the list of authorised keys");
  }
  return config->keys->authorized;
}

std::vector<std::string> listedWords(const std::string& list) {
  std::vector<std::string> words;
  for (std::size_t at = 0; at <= list.size();) {
    const std::size_t end = std::min(list.find(',', at), list.size());
    words.push_back(list.substr(at, end - at));
    at = end + 1;
  }
  return words;
}

}  // namespace pingloom::cli
