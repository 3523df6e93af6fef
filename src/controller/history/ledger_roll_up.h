// Rolls windows that are old enough up to minutes. A step makes one minute of one source inside the
// caller's transaction: the minute is inserted and its windows are deleted together, so that a
// crash leaves one or the other. A window that arrives after its minute was made becomes another
// row of that minute. The ledger's thread uses it.
#pragma once

#include <string>

#include "common/error.h"
#include "common/time.h"
#include "controller/history/block_insert.h"
#include "controller/history/codec/minute_builder.h"
#include "controller/history/sql/database.h"

namespace pingloom::controller {

class LedgerRollUp {
 public:
  static constexpr Nanos kAge = 2 * kHour;
  // At most this many windows become one row; the rest becomes another row of that minute.
  static constexpr int kMaxWindows = 128;

  Status prepare(Database& database);

  // Makes the next minute that ended at least kAge ago. Damaged windows are dropped and counted in
  // `dropped`. Returns the number of windows that were rolled up; 0: there are none.
  Result<std::size_t> step(Nanos now_utc, BlockInsert& insert, std::uint64_t& dropped);

 private:
  struct Group {
    std::string probe;
    std::string source;
    std::int64_t path = 0;
    Nanos start = 0;
    Nanos window = 0;  // the windows' length

    // A window of a minute or more is rolled up alone.
    Nanos length() const { return window < kMinute ? kMinute : window; }
    Nanos begin() const { return window < kMinute ? start / kMinute * kMinute : start; }
  };
  Result<bool> findGroup(Nanos before, Group& group);
  // Fills minute_ with the windows of the group, and taken_ with their ids and those of damaged
  // ones.
  Status collect(const Group& group, std::uint64_t& dropped);

  Statement oldest_;
  Statement group_;
  Statement remove_;
  ContentReader window_;
  MinuteBuilder minute_;
  std::vector<std::int64_t> taken_;
  std::int64_t incarnation_ = 0;  // the newest incarnation of those taken
};

}  // namespace pingloom::controller
