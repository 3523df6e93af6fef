#include "collector/metric_lines.h"

#include <fmt/format.h>

namespace pingloom::collector {

void writeFamily(std::string& out, std::string_view name, std::string_view type,
                 std::string_view help, Format format) {
  constexpr std::string_view kTotal = "_total";
  if (format == Format::kOpenMetrics && name.ends_with(kTotal)) name.remove_suffix(kTotal.size());
  out += fmt::format("# HELP {} {}\n# TYPE {} {}\n", name, help, name, type);
}

std::string quotedLabel(std::string_view value) {
  std::string out = "\"";
  for (const char c : value) {
    if (c == '\\' || c == '"') out += '\\';
    if (c == '\n') {
      out += "\\n";
    } else {
      out += c;
    }
  }
  return out + '"';
}

}  // namespace pingloom::collector
