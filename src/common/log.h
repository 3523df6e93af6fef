// One logger per process, to stderr, one line per event. Never called per packet. Each folder of
// src/ is a component and may have a level of its own. Any thread.
#pragma once

#include <fmt/format.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <type_traits>

#include "common/error.h"

namespace pingloom::log {

enum class Level : std::uint8_t { kDebug, kInfo, kWarning, kError };

Result<Level> parseLevel(std::string_view text);

// The folders of src/ that daemons consist of; "" is everything else.
constexpr auto kComponents = std::to_array<std::string_view>(
    {"", "agent", "collector", "common", "controller", "http", "keys", "net", "pages", "pinglist",
     "plan", "probe", "rdma", "store", "translator", "wire"});
using Component = std::uint8_t;  // an index of kComponents

// Returns the component of a source file such as "/build/src/rdma/soft/soft_port.cpp".
constexpr Component componentOf(std::string_view file) {
  constexpr std::string_view kSource = "src/";
  const auto at = file.rfind(kSource);
  if (at == std::string_view::npos || (at > 0 && file[at - 1] != '/')) return 0;
  const std::string_view below = file.substr(at + kSource.size());
  const std::string_view folder = below.substr(0, below.find('/'));
  for (std::size_t i = 1; i < kComponents.size(); ++i) {
    if (kComponents[i] == folder) return static_cast<Component>(i);
  }
  return 0;
}

struct Levels {
  Level level = Level::kInfo;                                     // of components without their own
  std::array<std::optional<Level>, kComponents.size()> own = {};  // indexed by Component

  Levels() = default;
  Levels(Level all) : level(all) {}  // NOLINT(google-explicit-constructor)
  Level of(Component component) const { return own[component].value_or(level); }
  bool operator==(const Levels&) const = default;
};

// For systemd's journal, lines begin with their priority (sd-daemon(3)) instead of the time.
void init(std::string_view program, const Levels& levels);
void setLevels(const Levels& levels);
bool enabled(Level level, Component component = 0);
void write(Level level, std::string_view message);  // whatever the levels are

// A checked format string, and the component of the code that has it.
template <typename... Args>
struct Format {
  // It is implicit, so that callers pass literals. clang 14 has no std::source_location.
  template <typename Text>
  consteval Format(const Text& given, const char* file = __builtin_FILE())
      : text(given), component(componentOf(file)) {}
  fmt::format_string<Args...> text;
  Component component;
};
// Keeps the arguments from being deduced by the format.
template <typename... Args>
using FormatOf = Format<std::type_identity_t<Args>...>;

// Tells whether systemd's journal reads this process' stderr. If so, lines may begin with their
// priority, e.g. "<3>" for an error.
bool stderrIsJournal();

template <typename... Args>
void at(Level level, FormatOf<Args...> format, Args&&... args) {
  if (enabled(level, format.component)) {
    write(level, fmt::format(format.text, std::forward<Args>(args)...));
  }
}
template <typename... Args>
void debug(FormatOf<Args...> format, Args&&... args) {
  at<Args...>(Level::kDebug, format, std::forward<Args>(args)...);
}
template <typename... Args>
void info(FormatOf<Args...> format, Args&&... args) {
  at<Args...>(Level::kInfo, format, std::forward<Args>(args)...);
}
template <typename... Args>
void warning(FormatOf<Args...> format, Args&&... args) {
  at<Args...>(Level::kWarning, format, std::forward<Args>(args)...);
}
template <typename... Args>
void error(FormatOf<Args...> format, Args&&... args) {
  at<Args...>(Level::kError, format, std::forward<Args>(args)...);
}

}  // namespace pingloom::log
