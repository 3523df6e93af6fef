// One logger per process, to stderr, one line per event. Never called per packet.
// Any thread.
#pragma once

#include <fmt/format.h>

#include <string_view>

#include "common/error.h"

namespace pingloom::log {

enum class Level { kDebug, kInfo, kWarning, kError };

Result<Level> parseLevel(std::string_view text);
// For systemd's journal, lines begin with their priority (sd-daemon(3)) instead of the time.
void init(std::string_view program, Level level);
void setLevel(Level level);
bool enabled(Level level);
void write(Level level, std::string_view message);

template <typename... Args>
void at(Level level, fmt::format_string<Args...> format, Args&&... args) {
  if (enabled(level)) write(level, fmt::format(format, std::forward<Args>(args)...));
}
template <typename... Args>
void debug(fmt::format_string<Args...> format, Args&&... args) {
  at(Level::kDebug, format, std::forward<Args>(args)...);
}
template <typename... Args>
void info(fmt::format_string<Args...> format, Args&&... args) {
  at(Level::kInfo, format, std::forward<Args>(args)...);
}
template <typename... Args>
void warning(fmt::format_string<Args...> format, Args&&... args) {
  at(Level::kWarning, format, std::forward<Args>(args)...);
}
template <typename... Args>
void error(fmt::format_string<Args...> format, Args&&... args) {
  at(Level::kError, format, std::forward<Args>(args)...);
}

}  // namespace pingloom::log
