// The parts that the three daemons share: the command line, the configuration file at the start and
// on SIGHUP, exit codes, and the file with their URL.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "common/error.h"
#include "common/file.h"
#include "common/log.h"
#include "common/program.h"
#include "common/service_manager.h"

namespace pingloom::daemon {

constexpr std::size_t kMaxConfigBytes = 1U << 20;
constexpr int kExitFailure = 1;  // an invalid configuration exits with program::kExitUsage

struct About {
  std::string_view name;      // "pingloom-agent"
  std::string_view does;      // one sentence about the program
  std::string_view explains;  // names the file that explains the configuration
};

using Run = std::function<int(const std::string& file)>;

// What a daemon does instead of serving, if it is called with this option.
struct Task {
  const char* option;  // "init-history"
  const char* does;    // for --help
  Run run;
};

// Parses --config FILE and passes FILE to `run`, or to the task that is asked for. Returns the exit
// code for main.
int start(const About& about, int argc, char** argv, const Run& run,
          const std::vector<Task>& tasks = {});
// Prints the error on stderr, with an error's priority for the journal. Returns `code`.
int fail(const About& about, const Error& error, int code = kExitFailure);

// `parse` is the daemon's parseConfig.
template <typename Parse>
auto readConfig(const std::string& file, Parse parse) -> decltype(parse("", "")) {
  const auto text = readFile(file, kMaxConfigBytes);
  if (!text) return tl::unexpected(text.error());
  return parse(*text, file);
}

// The keys of a configuration file at the start, those within a map as "map.key". They tell which
// changed keys take effect only at the next start.
class ConfigKeys {
 public:
  explicit ConfigKeys(std::string file) : file_(std::move(file)), at_start_(read()) {}
  // Logs the keys of the present file that differ from the start and are not `reloadable`.
  void reloaded(const std::vector<std::string_view>& reloadable) const;

 private:
  std::map<std::string, std::string> read() const;

  const std::string file_;
  const std::map<std::string, std::string> at_start_;
};

// Runs the daemon until it is asked to stop, and reloads its configuration when it is asked to. The
// daemon has run(ServiceManager&), which returns on either request, reload(Config), and
// kReloadable, the keys that reload() can change.
template <typename Daemon, typename Parse>
void serve(Daemon& daemon, ServiceManager& manager, const std::string& file, Parse parse) {
  ConfigKeys keys(file);
  while (daemon.run(manager) == ServiceManager::Asked::kReload) {
    auto config = readConfig(file, parse);
    if (!config) {
      log::error("{}; the configuration from before stays in force, and no file it names was read",
                 config.error().text());
      continue;
    }
    log::setLevels(config->log_levels);
    daemon.reload(std::move(*config));
    keys.reloaded({Daemon::kReloadable.begin(), Daemon::kReloadable.end()});
  }
}

// The file that `url_file` names. It exists as long as this object.
class UrlFile {
 public:
  explicit UrlFile(std::filesystem::path file) : file_(std::move(file)) {}
  ~UrlFile();
  UrlFile(const UrlFile&) = delete;
  UrlFile& operator=(const UrlFile&) = delete;
  Status write(const std::string& url) const;  // does nothing without a name

 private:
  const std::filesystem::path file_;
};

}  // namespace pingloom::daemon
