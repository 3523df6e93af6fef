// Escapes text for Prometheus' text formats. Internal to the writers of metrics. Any thread.
#pragma once

#include <string>
#include <string_view>

namespace pingloom {

// Appends the text with backslashes and line ends escaped, and quotes too with `quotes`.
inline void appendEscaped(std::string& out, std::string_view text, bool quotes) {
  for (const char c : text) {
    if (c == '\n') {
      out += "\\n";
      continue;
    }
    if (c == '\\' || (c == '"' && quotes)) out += '\\';
    out += c;
  }
}

// Appends name="value".
inline void appendLabel(std::string& out, std::string_view name, std::string_view value) {
  out += name;
  out += "=\"";
  appendEscaped(out, value, true);
  out += '"';
}

}  // namespace pingloom
