#include "common/log.h"

#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <memory>
#include <string>

namespace pingloom::log {
namespace {

spdlog::level::level_enum toSpdlog(Level level) {
  switch (level) {
    case Level::kDebug:
      return spdlog::level::debug;
    case Level::kInfo:
      return spdlog::level::info;
    case Level::kWarning:
      return spdlog::level::warn;
    case Level::kError:
      return spdlog::level::err;
  }
  return spdlog::level::info;
}

// Until init() has run (unit tests, early start) messages go to stderr under the library's name.
std::shared_ptr<spdlog::logger>& logger() {
  static std::shared_ptr<spdlog::logger> instance = [] {
    auto made = std::make_shared<spdlog::logger>("pingloom",
                                                 std::make_shared<spdlog::sinks::stderr_sink_mt>());
    made->set_level(spdlog::level::warn);
    return made;
  }();
  return instance;
}

}  // namespace

Result<Level> parseLevel(std::string_view text) {
  if (text == "debug") return Level::kDebug;
  if (text == "info") return Level::kInfo;
  if (text == "warning") return Level::kWarning;
  if (text == "error") return Level::kError;
  return makeError("log level '" + std::string(text) + "'",
                   "not one of debug, info, warning, error");
}

void init(std::string_view program, Level level) {
  auto made = std::make_shared<spdlog::logger>(std::string(program),
                                               std::make_shared<spdlog::sinks::stderr_sink_mt>());
  made->set_level(toSpdlog(level));
  made->set_pattern("%Y-%m-%dT%H:%M:%S.%eZ %l %v", spdlog::pattern_time_type::utc);
  made->flush_on(spdlog::level::info);
  logger() = std::move(made);
}

bool enabled(Level level) { return logger()->should_log(toSpdlog(level)); }

void write(Level level, std::string_view message) {
  logger()->log(toSpdlog(level), spdlog::string_view_t(message.data(), message.size()));
}

}  // namespace pingloom::log
