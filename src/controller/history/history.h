// What the ledger keeps of the past, to be read. A connection of its own beside the ledger's: with
// SQLite's write-ahead log neither waits for the other. One thread.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string_view>

#include "common/address.h"
#include "common/error.h"
#include "common/time.h"
#include "controller/history/sqlite.h"

namespace pingloom::controller {

// A source's window or minute of a probe, or a part of it.
struct PastContent {
  Nanos start_utc = 0;
  Nanos window = 0;
  std::uint32_t path = 0;
  std::string_view content;  // history/content.h; valid while it is being visited
};
using PastVisitor = std::function<void(const PastContent&)>;

// Which: those of one path that start in [from, until).
struct PastRange {
  std::string_view probe;
  IpAddress source;
  std::uint32_t path = 0;  // of several; 0: of all together
  Nanos from_utc = 0;
  Nanos until_utc = 0;
  std::uint64_t every = 1;  // and of so many consecutive ones one
};

struct HistorySpan {
  Nanos oldest_utc = 0;  // starts of the oldest and the newest window
  Nanos newest_utc = 0;
};

class History {
 public:
  static Result<std::unique_ptr<History>> open(const std::filesystem::path& file);

  // nullopt: nothing yet.
  Result<std::optional<HistorySpan>> span();
  // The window in which `at_utc` lies: all parts of all paths together.
  Status at(std::string_view probe, const IpAddress& source, Nanos at_utc,
            const PastVisitor& visitor);
  Result<std::uint64_t> count(const PastRange& range);
  // Oldest first.
  Status visit(const PastRange& range, const PastVisitor& visitor);

  // For what else the ledger's file holds (event_reader.h).
  Database& database() { return database_; }
  bool damaged() const { return database_.damaged(); }

 private:
  explicit History(Database database) : database_(std::move(database)) {}
  Status prepare();
  static void bindRange(Statement& statement, const PastRange& range, std::string_view source);
  static Status visitAll(Statement& statement, const PastVisitor& visitor);

  Database database_;  // before its statements
  Statement span_;
  Statement at_;
  Statement count_;
  Statement between_;
};

}  // namespace pingloom::controller
