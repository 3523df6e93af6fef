// A connection to the database that holds a history, and its prepared statements: thin, move-only,
// and the same for SQLite and PostgreSQL. One thread at a time. Errors carry the engine's own
// words. Statements are written with ?1, ?2, ... as parameters, in SQL that both engines know.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <string_view>
#include <utility>

#include "common/error.h"
#include "controller/history/sql/driver.h"
#include "controller/history/sql/place.h"

namespace pingloom::controller {

enum class Engine { kSqlite, kPostgres };

class Statement {
 public:
  Statement() = default;
  explicit Statement(std::unique_ptr<StatementDriver> driver) : driver_(std::move(driver)) {}

  // Parameters are numbered from 1. Text and blobs must live until the next reset().
  Statement& bind(int parameter, std::int64_t number) {
    driver_->bind(parameter, number);
    return *this;
  }
  Statement& bind(int parameter, std::string_view text) {
    driver_->bindText(parameter, text);
    return *this;
  }
  Statement& bindBlob(int parameter, std::string_view bytes) {
    driver_->bindBlob(parameter, bytes);
    return *this;
  }
  // True: there is a row.
  Result<bool> step() { return driver_->step(); }
  // Steps to the end, then resets.
  Status run();
  // Does the same for one statement of many in a transaction: the outcome may be told as late as
  // by the COMMIT, so that PostgreSQL need not be waited for each time.
  Status queue();
  // Does the same, and fails if no row was changed, which Database::takeUnchanged() tells then.
  Status queueChange();
  void reset() { driver_->reset(); }

  std::int64_t number(int column) const { return driver_->number(column); }
  // Valid until step() or reset().
  std::string_view bytes(int column) const { return driver_->bytes(column); }
  // The number of rows that the last run() inserted, changed or removed.
  std::int64_t changed() const { return driver_->changed(); }

 private:
  std::unique_ptr<StatementDriver> driver_;
};

class Database {
 public:
  static Result<Database> open(const HistoryPlace& place);
  // Nothing in an SQLite file can be changed through it.
  static Result<Database> openToRead(const HistoryPlace& place);

  Status execute(const char* sql) { return driver_->execute(sql); }
  // Returns the first failure of those that were queued since the last call.
  Status settle() { return driver_->settle(); }
  bool takeUnchanged() { return driver_->takeUnchanged(); }
  Result<Statement> prepare(const char* sql);
  Status prepareAll(std::initializer_list<std::pair<Statement*, const char*>> statements);
  Result<std::int64_t> number(const char* sql);  // the first column of the first row
  // Whether a failure so far has shown that the file itself is damaged.
  bool damaged() const { return driver_->damaged(); }
  // Whether the connection has ended. It does not come back; another one has to be opened.
  bool lost() const { return driver_->lost(); }
  Engine engine() const { return engine_; }

 private:
  Database(Engine engine, std::unique_ptr<DatabaseDriver> driver)
      : engine_(engine), driver_(std::move(driver)) {}
  Engine engine_ = Engine::kSqlite;
  std::unique_ptr<DatabaseDriver> driver_;
};

// While it lives, all that is read belongs to one state of the history, and an SQLite file is
// locked only once. Other reads give the errors if it cannot begin.
class ReadTransaction {
 public:
  explicit ReadTransaction(Database& database)
      : database_(database), begun_(database.execute(beginReading(database)).has_value()) {}
  ~ReadTransaction() {
    if (begun_) static_cast<void>(database_.execute("COMMIT"));
  }
  ReadTransaction(const ReadTransaction&) = delete;
  ReadTransaction& operator=(const ReadTransaction&) = delete;

  // What begins such a transaction.
  static const char* beginReading(const Database& database) {
    return database.engine() == Engine::kSqlite ? "BEGIN" : "BEGIN ISOLATION LEVEL REPEATABLE READ";
  }

 private:
  Database& database_;
  const bool begun_;
};

}  // namespace pingloom::controller
