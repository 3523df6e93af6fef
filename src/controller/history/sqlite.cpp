#include "controller/history/sqlite.h"

#include <sqlite3.h>

#include <string>

namespace pingloom::controller {
namespace {

constexpr int kBusyTimeoutMs = 1000;

tl::unexpected<Error> failureOf(sqlite3* database, bool& damaged) {
  const int code = sqlite3_errcode(database) & 0xff;
  damaged = damaged || code == SQLITE_CORRUPT || code == SQLITE_NOTADB;
  const char* file = sqlite3_db_filename(database, "main");
  return makeError(file == nullptr ? "" : file, sqlite3_errmsg(database));
}

}  // namespace

void Statement::Finalize::operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }

Statement& Statement::bind(int parameter, std::int64_t number) {
  sqlite3_bind_int64(statement_.get(), parameter, number);
  return *this;
}

Statement& Statement::bind(int parameter, std::string_view text) {
  sqlite3_bind_text(statement_.get(), parameter, text.data(), static_cast<int>(text.size()),
                    SQLITE_STATIC);
  return *this;
}

Statement& Statement::bindBlob(int parameter, std::string_view bytes) {
  sqlite3_bind_blob(statement_.get(), parameter, bytes.data(), static_cast<int>(bytes.size()),
                    SQLITE_STATIC);
  return *this;
}

Result<bool> Statement::step() {
  const int code = sqlite3_step(statement_.get());
  if (code == SQLITE_ROW) return true;
  if (code == SQLITE_DONE) return false;
  return failureOf(sqlite3_db_handle(statement_.get()), *damaged_);
}

Status Statement::run() {
  for (;;) {
    const auto more = step();
    if (more && *more) continue;
    reset();
    if (!more) return tl::unexpected(more.error());
    return {};
  }
}

void Statement::reset() {
  sqlite3_reset(statement_.get());
  sqlite3_clear_bindings(statement_.get());
}

std::int64_t Statement::number(int column) const {
  return sqlite3_column_int64(statement_.get(), column);
}

std::string_view Statement::bytes(int column) const {
  const void* start = sqlite3_column_blob(statement_.get(), column);
  const int length = sqlite3_column_bytes(statement_.get(), column);
  return {static_cast<const char*>(start), static_cast<std::size_t>(length)};
}

void Database::Close::operator()(sqlite3* database) const { sqlite3_close_v2(database); }

Result<Database> Database::open(const std::filesystem::path& file) {
  return openWith(file, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE);
}

Result<Database> Database::openToRead(const std::filesystem::path& file) {
  return openWith(file, SQLITE_OPEN_READONLY);
}

Result<Database> Database::openWith(const std::filesystem::path& file, int flags) {
  sqlite3* raw = nullptr;
  const int code = sqlite3_open_v2(file.c_str(), &raw, flags | SQLITE_OPEN_NOMUTEX, nullptr);
  Database made;
  made.database_.reset(raw);
  if (code != SQLITE_OK) {
    return makeError(file.string(), raw == nullptr ? "out of memory" : sqlite3_errmsg(raw));
  }
  sqlite3_busy_timeout(raw, kBusyTimeoutMs);
  return made;
}

tl::unexpected<Error> Database::failure() const { return failureOf(database_.get(), *damaged_); }

Status Database::execute(const char* sql) {
  if (sqlite3_exec(database_.get(), sql, nullptr, nullptr, nullptr) != SQLITE_OK) return failure();
  return {};
}

Result<Statement> Database::prepare(const char* sql) {
  sqlite3_stmt* raw = nullptr;
  const int code =
      sqlite3_prepare_v3(database_.get(), sql, -1, SQLITE_PREPARE_PERSISTENT, &raw, nullptr);
  Statement made;
  made.statement_.reset(raw);
  made.damaged_ = damaged_.get();
  if (code != SQLITE_OK) return failure();
  return made;
}

Status Database::prepareAll(std::initializer_list<std::pair<Statement*, const char*>> statements) {
  for (const auto& [statement, sql] : statements) {
    auto prepared = prepare(sql);
    if (!prepared) return tl::unexpected(prepared.error());
    *statement = std::move(*prepared);
  }
  return {};
}

Result<std::int64_t> Database::number(const char* sql) {
  auto statement = prepare(sql);
  if (!statement) return tl::unexpected(statement.error());
  const auto row = statement->step();
  if (!row) return tl::unexpected(row.error());
  return *row ? statement->number(0) : 0;
}

}  // namespace pingloom::controller
