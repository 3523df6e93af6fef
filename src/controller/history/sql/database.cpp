#include "controller/history/sql/database.h"

#include <fmt/format.h>

#include "controller/history/sql/postgres.h"
#include "controller/history/sql/sqlite.h"

namespace pingloom::controller {

std::string HistoryPlace::text() const {
  if (!postgres_) return file_.string();
  std::string servers;
  for (const PostgresServer& server : postgres_->servers) {
    const char* comma = servers.empty() ? "" : ",";
    servers += fmt::format("{}{}:{}", comma, server.host, server.port);
  }
  return fmt::format("postgresql://{}@{}/{}", postgres_->user, servers, postgres_->database);
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

Status Statement::queue() {
  auto status = driver_->queue(false);
  reset();
  return status;
}

Status Statement::queueChange() {
  auto status = driver_->queue(true);
  reset();
  return status;
}

Result<Database> Database::open(const HistoryPlace& place) {
  if (place.postgres()) {
    auto driver = openPostgres(*place.postgres(), place.text());
    if (!driver) return tl::unexpected(driver.error());
    return Database(Engine::kPostgres, std::move(*driver));
  }
  auto driver = openSqlite(place.file());
  if (!driver) return tl::unexpected(driver.error());
  return Database(Engine::kSqlite, std::move(*driver));
}

Result<Database> Database::openToRead(const HistoryPlace& place) {
  if (place.postgres()) return open(place);
  auto driver = openSqliteToRead(place.file());
  if (!driver) return tl::unexpected(driver.error());
  return Database(Engine::kSqlite, std::move(*driver));
}

Result<Statement> Database::prepare(const char* sql) {
  auto driver = driver_->prepare(sql);
  if (!driver) return tl::unexpected(driver.error());
  return Statement(std::move(*driver));
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
