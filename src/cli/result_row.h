// Formats one pair's latest row for the results command as a line of JSON, of CSV or of a table.
// The row's JSON comes from Redis and is checked here; docs/redis-keys.md lists its fields. Pure
// functions; any thread.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "common/error.h"

namespace pingloom::cli {

struct ResultRow {
  std::string probe;
  std::string source;
  std::string destination;  // includes the number of a path: 10.0.0.2#3
  std::string json;         // the row as Redis holds it
};

// Returns one line: probe, source and destination, then the row. The path is a field of the row.
Result<std::string> resultJson(const ResultRow& row);

// The columns never change their order; a figure that a protocol does not measure stays empty.
std::string csvHeader();
Result<std::string> csvLine(const ResultRow& row);

// Returns the cells of a table row, with units.
const std::vector<std::string>& resultTableHeader();
Result<std::vector<std::string>> resultTableCells(const ResultRow& row);

}  // namespace pingloom::cli
