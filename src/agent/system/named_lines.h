// The kernel's text files with a name and a number a line, such as /proc/vmstat, and the table that
// says which names are shown. Pure; what host_parsers.h says about lines holds here too.
#pragma once

#include <algorithm>
#include <string_view>

#include "agent/system/fields.h"
#include "agent/system/readings.h"

namespace pingloom::agent::system {

struct Named {
  std::string_view key;  // as in the file
  Family family;
};

// `Table` is an array of Named. Returns nullptr where the key is not in it.
template <typename Table>
const Family* familyOf(const Table& table, std::string_view key) {
  const auto found = std::find_if(table.begin(), table.end(),
                                  [key](const Named& named) { return named.key == key; });
  return found == table.end() ? nullptr : &found->family;
}

// Adds the number at the beginning of `rest`. `family` is nullptr where the agent does not show
// what the line tells.
inline void addNumber(const Family* family, std::string_view rest, Readings& readings) {
  if (family == nullptr) return;
  const auto value = takeNumber(rest);
  if (!value) {
    ++readings.malformed;
  } else if (family->kind == Kind::kCounter) {
    readings.count(*family, *value);
  } else {
    readings.gauge(*family, static_cast<double>(*value));
  }
}

// Adds what the table has of a whole file.
template <typename Table>
void addNamedLines(const Table& table, std::string_view text, Readings& readings) {
  const bool whole = forEachLine(text, [&](std::string_view line) {
    const std::string_view key = takeWord(line);
    addNumber(familyOf(table, key), line, readings);
  });
  if (!whole) ++readings.malformed;
}

}  // namespace pingloom::agent::system
