#include "controller/history/sql/sqlite.h"

#include <sqlite3.h>

#include <string>
#include <utility>

namespace pingloom::controller {
namespace {

constexpr int kBusyTimeoutMs = 1000;

// The database's statements set these.
struct Flags {
  bool damaged = false;
  bool unchanged = false;
};

tl::unexpected<Error> failureOf(sqlite3* database, Flags& flags) {
  const int code = sqlite3_errcode(database) & 0xff;
  flags.damaged = flags.damaged || code == SQLITE_CORRUPT || code == SQLITE_NOTADB;
  const char* file = sqlite3_db_filename(database, "main");
  return makeError(file == nullptr ? "" : file, sqlite3_errmsg(database));
}

class SqliteStatement final : public StatementDriver {
 public:
  SqliteStatement(sqlite3_stmt* statement, Flags* flags) : statement_(statement), flags_(flags) {}
  ~SqliteStatement() override { sqlite3_finalize(statement_); }

  void bind(int parameter, std::int64_t number) override {
    sqlite3_bind_int64(statement_, parameter, number);
  }
  void bindText(int parameter, std::string_view text) override {
    sqlite3_bind_text(statement_, parameter, text.data(), static_cast<int>(text.size()),
                      SQLITE_STATIC);
  }
  void bindBlob(int parameter, std::string_view bytes) override {
    sqlite3_bind_blob(statement_, parameter, bytes.data(), static_cast<int>(bytes.size()),
                      SQLITE_STATIC);
  }

  Result<bool> step() override {
    const int code = sqlite3_step(statement_);
    if (code == SQLITE_ROW) return true;
    if (code == SQLITE_DONE) return false;
    return failureOf(sqlite3_db_handle(statement_), *flags_);
  }
  Status queue(bool must_change) override {
    if (const auto more = step(); !more) return tl::unexpected(more.error());
    if (!must_change || changed() > 0) return {};
    flags_->unchanged = true;
    const char* file = sqlite3_db_filename(sqlite3_db_handle(statement_), "main");
    return makeError(file == nullptr ? "" : file, kNothingChanged);
  }
  void reset() override {
    sqlite3_reset(statement_);
    sqlite3_clear_bindings(statement_);
  }

  std::int64_t number(int column) const override {
    return sqlite3_column_int64(statement_, column);
  }
  std::string_view bytes(int column) const override {
    const void* start = sqlite3_column_blob(statement_, column);
    const int length = sqlite3_column_bytes(statement_, column);
    return {static_cast<const char*>(start), static_cast<std::size_t>(length)};
  }
  std::int64_t changed() const override { return sqlite3_changes64(sqlite3_db_handle(statement_)); }

 private:
  sqlite3_stmt* const statement_;
  Flags* const flags_;
};

class SqliteDatabase final : public DatabaseDriver {
 public:
  explicit SqliteDatabase(sqlite3* database) : database_(database) {}
  ~SqliteDatabase() override { sqlite3_close_v2(database_); }

  Status execute(const char* sql) override {
    const int code = sqlite3_exec(database_, sql, nullptr, nullptr, nullptr);
    return code == SQLITE_OK ? Status() : failureOf(database_, *flags_);
  }
  Result<std::unique_ptr<StatementDriver>> prepare(const char* sql) override {
    sqlite3_stmt* raw = nullptr;
    const int code =
        sqlite3_prepare_v3(database_, sql, -1, SQLITE_PREPARE_PERSISTENT, &raw, nullptr);
    if (code != SQLITE_OK) return failureOf(database_, *flags_);
    return std::make_unique<SqliteStatement>(raw, flags_.get());
  }
  Status settle() override { return {}; }
  bool takeUnchanged() override { return std::exchange(flags_->unchanged, false); }
  bool damaged() const override { return flags_->damaged; }
  bool lost() const override { return false; }

 private:
  // Statements point to them, and the database may be moved.
  std::unique_ptr<Flags> flags_ = std::make_unique<Flags>();
  sqlite3* const database_;
};

Result<std::unique_ptr<DatabaseDriver>> openWith(const std::filesystem::path& file, int flags) {
  sqlite3* raw = nullptr;
  const int code = sqlite3_open_v2(file.c_str(), &raw, flags | SQLITE_OPEN_NOMUTEX, nullptr);
  auto made = std::make_unique<SqliteDatabase>(raw);
  if (code != SQLITE_OK) {
    return makeError(file.string(), raw == nullptr ? "out of memory" : sqlite3_errmsg(raw));
  }
  sqlite3_busy_timeout(raw, kBusyTimeoutMs);
  return made;
}

}  // namespace

Result<std::unique_ptr<DatabaseDriver>> openSqlite(const std::filesystem::path& file) {
  return openWith(file, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE);
}

Result<std::unique_ptr<DatabaseDriver>> openSqliteToRead(const std::filesystem::path& file) {
  return openWith(file, SQLITE_OPEN_READONLY);
}

}  // namespace pingloom::controller
