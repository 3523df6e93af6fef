// Copies a whole history from one place to another, between SQLite and PostgreSQL in either
// direction: windows, minutes, marks, events, incidents and counters. One thread.
#pragma once

#include <cstdint>
#include <functional>

#include "common/error.h"
#include "controller/history/sql/database.h"

namespace pingloom::controller {

struct CopyProgress {
  std::uint64_t done = 0;  // rows of all tables together
  std::uint64_t all = 0;
};

// Copies in one transaction: all of it or nothing. Tables of `to` have to be there and empty, so no
// controller may have used it; those of a new SQLite file are created. Reports progress every 1,000
// rows. Returns the number of rows.
Result<std::uint64_t> copyHistory(const HistoryPlace& from, const HistoryPlace& to,
                                  const std::function<void(const CopyProgress&)>& progress);

}  // namespace pingloom::controller
