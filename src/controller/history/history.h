// Reads the past from the ledger's file or database. It has a connection of its own, and neither it
// nor the ledger waits for the other. One thread uses it.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string_view>

#include "common/address.h"
#include "common/error.h"
#include "common/time.h"
#include "controller/history/sql/database.h"

namespace pingloom::controller {

// A window or minute of a probe at one source, or a part of it.
struct PastContent {
  Nanos start_utc = 0;
  Nanos window = 0;
  std::uint32_t path = 0;
  std::string_view content;  // codec/content.h; valid during the visit
};
using PastVisitor = std::function<void(const PastContent&)>;

// Selects windows of one path that start in [from, until).
struct PastRange {
  std::string_view probe;
  IpAddress source;
  std::uint32_t path = 0;  // 0: all paths together
  Nanos from_utc = 0;
  Nanos until_utc = 0;
  std::uint64_t every = 1;  // select one of this many consecutive windows
};

struct HistorySpan {
  Nanos oldest_utc = 0;  // the starts of the oldest and the newest window
  Nanos newest_utc = 0;
};

class History {
 public:
  static Result<std::unique_ptr<History>> open(const HistoryPlace& place);

  // nullopt: there is no window yet.
  Result<std::optional<HistorySpan>> span();
  // Visits the window that contains `at_utc`: all parts of the row for all paths together.
  Status at(std::string_view probe, const IpAddress& source, Nanos at_utc,
            const PastVisitor& visitor);
  Result<std::uint64_t> count(const PastRange& range);
  // Visits the oldest first.
  Status visit(const PastRange& range, const PastVisitor& visitor);

  // For the other tables of the file (event_reader.h).
  Database& database() { return database_; }
  // Whether it has to be opened again.
  bool usable() const { return !database_.damaged() && !database_.lost(); }

 private:
  explicit History(Database database) : database_(std::move(database)) {}
  Status prepare();
  static void bindRange(Statement& statement, const PastRange& range, std::string_view source);
  static Status visitAll(Statement& statement, const PastVisitor& visitor);

  Database database_;  // declared before its statements, and so destroyed after them
  Statement span_;
  Statement at_;
  Statement count_;
  Statement between_;
};

}  // namespace pingloom::controller
