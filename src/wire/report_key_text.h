// The text of a reporter's key: 32 hexadecimal digits. Inline, because the report library uses it.
// A pure function; any thread.
#pragma once

#include <charconv>
#include <cstddef>
#include <optional>
#include <string_view>
#include <system_error>

#include "wire/report_seal.h"

namespace pingloom::wire {

inline std::optional<ReportKey> parseReportKey(std::string_view text) {
  ReportKey key{};
  if (text.size() != 2 * key.size()) return std::nullopt;
  for (std::size_t i = 0; i < key.size(); ++i) {
    const char* from = text.data() + 2 * i;
    const auto [end, error] = std::from_chars(from, from + 2, key[i], 16);
    if (error != std::errc() || end != from + 2) return std::nullopt;
  }
  return key;
}

}  // namespace pingloom::wire
