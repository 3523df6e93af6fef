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

  // With `all` it begins with the oldest entry, otherwise behind the newest. It asks once, so an
  // error says that the collector cannot be asked or that nobody has the list.
  static Result<DtaTail> open(const DtaSource& source, const std::string& table, std::uint32_t list,
                              bool all);
  // Returns a document of /api/v1/dta/tail, which has no entries if none came within `wait`. After
  // an error it may be called again, and goes on from the same place.
  Result<nlohmann::json> next(Nanos wait = kWait);
  // Whether everything has been read that was there at open().
  bool pastFirstEnd() const;

 private:
  DtaTail(DtaSource source, collector::TailQuestion question)
      : source_(std::move(source)), question_(std::move(question)) {}
  Result<nlohmann::json> nextOfStores(Nanos wait);
  Result<nlohmann::json> askTail(const std::string& cursor, Nanos wait) const;

  DtaSource source_;
  OpenedStores opened_;               // empty if the collector is asked
  collector::TailQuestion question_;  // its cursor is for these
  std::string cursor_;                // for the collector
  collector::TailCursor first_end_;   // behind the entry that was the newest at open()
};

}  // namespace pingloom::cli
