#include "common/log.h"

#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
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
    made->set_level(spdlog::level::debug);
    return made;
  }();
  return instance;
}

// Until init() has run only warnings and errors are written.
struct AtomicLevels {
  AtomicLevels() {
    for (auto& level : of) level = Level::kWarning;
  }
  std::array<std::atomic<Level>, kComponents.size()> of;
};
AtomicLevels& atomicLevels() {
  static AtomicLevels levels;
  return levels;
}

// Writes the prefix, such as "<6>", from which journald takes a line's priority.
class PriorityPrefix : public spdlog::custom_flag_formatter {
 public:
  void format(const spdlog::details::log_msg& message, const std::tm& /*time*/,
              spdlog::memory_buf_t& out) override {
    static constexpr std::string_view kPrefixes[] = {"<7>", "<7>", "<6>", "<4>", "<3>", "<3>"};
    const std::string_view prefix = kPrefixes[std::min<std::size_t>(message.level, 5)];
    out.append(prefix.data(), prefix.data() + prefix.size());
  }
  std::unique_ptr<custom_flag_formatter> clone() const override {
    return std::make_unique<PriorityPrefix>();
  }
};

void setPattern(spdlog::logger& logger) {
  if (!stderrIsJournal()) {
    logger.set_pattern("%Y-%m-%dT%H:%M:%S.%eZ %l %v", spdlog::pattern_time_type::utc);
    return;
  }
  auto formatter = std::make_unique<spdlog::pattern_formatter>();
  formatter->add_flag<PriorityPrefix>('*').set_pattern("%*%v");
  logger.set_formatter(std::move(formatter));
}

}  // namespace

// JOURNAL_STREAM names the device and inode of the journal's pipe; stderr may have been redirected
// since.
bool stderrIsJournal() {
  const char* stream = std::getenv("JOURNAL_STREAM");
  struct stat error_stream {};
  return stream != nullptr && fstat(STDERR_FILENO, &error_stream) == 0 &&
         fmt::format("{}:{}", error_stream.st_dev, error_stream.st_ino) == stream;
}

Result<Level> parseLevel(std::string_view text) {
  if (text == "debug") return Level::kDebug;
  if (text == "info") return Level::kInfo;
  if (text == "warning") return Level::kWarning;
  if (text == "error") return Level::kError;
  return makeError("log level '" + std::string(text) + "'",
                   "not one of debug, info, warning, error");
}

void init(std::string_view program, const Levels& levels) {
  auto made = std::make_shared<spdlog::logger>(std::string(program),
                                               std::make_shared<spdlog::sinks::stderr_sink_mt>());
  made->set_level(spdlog::level::debug);  // enabled() decides
  setLevels(levels);
  setPattern(*made);
  made->flush_on(spdlog::level::info);
  logger() = std::move(made);
}

void setLevels(const Levels& levels) {
  for (std::size_t i = 0; i < kComponents.size(); ++i) {
    atomicLevels().of[i] = levels.of(static_cast<Component>(i));
  }
}

bool enabled(Level level, Component component) {
  return level >= atomicLevels().of[component].load(std::memory_order_relaxed);
}

void write(Level level, std::string_view message) {
  logger()->log(toSpdlog(level), spdlog::string_view_t(message.data(), message.size()));
}

}  // namespace pingloom::log
