// Follows a list of stores, at a collector, in files, or by RDMA. Blocking; one thread.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "cli/dta_source.h"
#include "collector/stores/store_tail.h"
#include "common/error.h"
#include "common/time.h"

namespace pingloom::cli {

class DtaTail {
 public:
  static constexpr Nanos kWait = 5 * kSecond;  // for entries, in one call of next()

  // With `all` it begins with the oldest entry, otherwise behind the newest.
  static Result<DtaTail> open(const DtaSource& source, const std::string& table, std::uint32_t list,
                              bool all);
  // Returns a document of /api/v1/dta/tail, which has no entries if none came within kWait.
  Result<nlohmann::json> next();

 private:
  DtaTail(DtaSource source, collector::TailQuestion question)
      : source_(std::move(source)), question_(std::move(question)) {}
  Result<nlohmann::json> nextOfStores();
  Result<nlohmann::json> askTail(const std::string& cursor, const std::string& wait) const;

  DtaSource source_;
  OpenedStores opened_;               // empty if the collector is asked
  collector::TailQuestion question_;  // its cursor is for these
  std::string cursor_;                // for the collector
};

}  // namespace pingloom::cli
