// Makes minutes of windows that are old enough, one source's minute in a step and inside the
// caller's transaction: the minute is inserted and its windows are deleted together, so that a
// crash leaves either. A window that comes when its minute has been made becomes another row of
// that minute. The ledger's thread.
#pragma once

#include <string>

#include "common/error.h"
#include "common/time.h"
#include "controller/history/block_insert.h"
#include "controller/history/codec/minute_builder.h"
#include "controller/history/sqlite.h"

namespace pingloom::controller {

class LedgerRollUp {
 public:
  static constexpr Nanos kAge = 2 * kHour;
  // Of a minute; the rest becomes another row of it.
  static constexpr int kMaxWindows = 128;

  Status prepare(Database& database);

  // The next source's minute, if there is one that ended kAge ago or earlier. Damaged windows are
  // dropped, and counted in `dropped`. The number of windows that it rolled up; 0: there are none.
  Result<std::size_t> step(Nanos now_utc, BlockInsert& insert, std::uint64_t& dropped);

 private:
  struct Group {
    std::string probe;
    std::string source;
    std::int64_t path = 0;
    Nanos start = 0;
    Nanos window = 0;  // of the windows

    // A window of a minute or more is one by itself.
    Nanos length() const { return window < kMinute ? kMinute : window; }
    Nanos begin() const { return window < kMinute ? start / kMinute * kMinute : start; }
  };
  Result<bool> findGroup(Nanos before, Group& group);
  // The ids of the windows that went into the minute, or are damaged.
  Status collect(const Group& group, std::uint64_t& dropped);

  Statement oldest_;
  Statement group_;
  Statement remove_;
  ContentReader window_;
  MinuteBuilder minute_;
  std::vector<std::int64_t> taken_;
  std::int64_t incarnation_ = 0;  // the newest of those taken
};

}  // namespace pingloom::controller
