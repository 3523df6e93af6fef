// Selects the rows that `pingloom results` reads. One thread.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "cli/redis_reader.h"
#include "cli/result_row.h"
#include "common/error.h"

namespace pingloom::cli {

// Each field must match exactly; "" matches everything. Addresses have the canonical form that
// Redis uses.
struct ResultFilter {
  std::string probe;
  std::string source;
  std::string destination;
};

// Returns the matching rows ordered by probe, source and destination address.
Result<std::vector<ResultRow>> readRows(RedisReader& redis, const ResultFilter& filter);

// Finds the rows that changed since the last call. It keeps the text of every row of that call.
class ChangedRows {
 public:
  std::vector<ResultRow> of(std::vector<ResultRow> rows);

 private:
  std::map<std::string, std::string> seen_;
};

}  // namespace pingloom::cli
