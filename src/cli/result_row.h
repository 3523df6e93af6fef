// One pair's latest row as the results command shows it: a line of JSON, a line of CSV, a line of a
// table. The row's JSON comes from Redis and is checked here; docs/redis-keys.md has its fields.
// Pure functions; any thread.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "common/error.h"

namespace pingloom::cli {

struct ResultRow {
  std::string probe;
  std::string source;
  std::string destination;  // of a path of several with its number: 10.0.0.2#3
  std::string json;         // as Redis holds it
};

// The row with probe, source and destination in front, on one line. The path of several is a field
// of the row.
Result<std::string> resultJson(const ResultRow& row);

// The columns never change their order; what a protocol does not measure stays empty.
std::string csvHeader();
Result<std::string> csvLine(const ResultRow& row);

// Cells for people, with units.
const std::vector<std::string>& resultTableHeader();
Result<std::vector<std::string>> resultTableCells(const ResultRow& row);

}  // namespace pingloom::cli
