// Which rows `pingloom results` reads. One thread.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "cli/redis_reader.h"
#include "cli/result_row.h"
#include "common/error.h"

namespace pingloom::cli {

// Exact; "" matches all. Addresses in canonical form, as Redis has them.
struct ResultFilter {
  std::string probe;
  std::string source;
  std::string destination;
};

// By probe, source, and destination address.
Result<std::vector<ResultRow>> readRows(RedisReader& redis, const ResultFilter& filter);

// Finds what changed since the last call. Holds the text of every row it saw then.
class ChangedRows {
 public:
  std::vector<ResultRow> of(std::vector<ResultRow> rows);

 private:
  std::map<std::string, std::string> seen_;
};

}  // namespace pingloom::cli
