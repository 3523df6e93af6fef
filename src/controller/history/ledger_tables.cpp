#include "controller/history/ledger_tables.h"

#include <fmt/format.h>

#include <string>
#include <string_view>
#include <utility>

#include "controller/history/ledger_schema.h"

namespace pingloom::controller {
namespace {

constexpr std::string_view kMoveAway =
    "move the file with its -wal and -shm away to begin a new history";
constexpr const char* kCountTables =
    "SELECT count(*) FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = "
    "c.relnamespace WHERE c.relkind = 'r' AND n.nspname = 'public' AND c.relname IN "
    "('pingloom_history', 'agents', 'blocks', 'events', 'presence', 'verdicts', 'severities', "
    "'counters', 'path_changes')";
constexpr std::int64_t kTables = 9;

// Lists the columns that every file of the format has: those of its first tables, without the ones
// that opening a file adds.
Result<std::string> columnsOf(Database& database) {
  auto select = database.prepare(
      "SELECT m.name || '.' || c.name FROM sqlite_master m, pragma_table_info(m.name) c "
      "WHERE m.type = 'table' AND m.name IN ('agents', 'blocks', 'events', 'presence') AND "
      "c.name NOT IN ('severity_before', 'severity_after') ORDER BY m.name, c.cid");
  if (!select) return tl::unexpected(select.error());
  std::string columns;
  for (;;) {
    const auto more = select->step();
    if (!more) return tl::unexpected(more.error());
    if (!*more) return columns;
    columns.append(select->bytes(0)) += ' ';
  }
}

// Before the first release, files with other tables had the same version.
Status checkFile(Database& database, const std::string& file) {
  auto example = Database::open(HistoryPlace(":memory:"));
  if (!example) return tl::unexpected(example.error());
  if (auto status = example->execute(kLedgerTables); !status) return status;
  const auto expected = columnsOf(*example);
  if (!expected) return tl::unexpected(expected.error());
  const auto found = columnsOf(database);
  if (!found) return tl::unexpected(found.error());
  if (*found == *expected) return {};
  return makeError(file, fmt::format("the history says that it has format {}, but its tables are "
                                     "others: a pingloom from before the first release wrote it; "
                                     "{}",
                                     kLedgerVersion, kMoveAway));
}

// Adds to a file what came after its first tables.
Status addLaterTables(Database& database) {
  const auto known = database.number(
      "SELECT count(*) FROM pragma_table_info('events') WHERE name = 'severity_after'");
  if (!known) return tl::unexpected(known.error());
  if (*known == 0) {
    if (auto status = database.execute(kEventSeverities); !status) return status;
  }
  for (const char* table : {kVerdictTable, kSeverityTable, kCounterTable, kPathChangeTable}) {
    if (auto status = database.execute(table); !status) return status;
  }
  return {};
}

// Creates the tables in a new file, whose version is 0, and refuses those of another version.
Status prepareFile(Database& database, const std::string& file) {
  if (auto status = database.execute(kLedgerSettings); !status) return status;
  const auto version = database.number("PRAGMA user_version");
  if (!version) return tl::unexpected(version.error());
  if (*version != kLedgerVersion && *version != 0) {
    return makeError(file, fmt::format("the history has format {}, and this pingloom uses format "
                                       "{}: run the version that wrote it, or {}",
                                       *version, kLedgerVersion, kMoveAway));
  }
  auto status = *version == 0 ? database.execute(fmt::format("BEGIN; {} PRAGMA user_version = {}; "
                                                             "COMMIT;",
                                                             kLedgerTables, kLedgerVersion)
                                                     .c_str())
                              : checkFile(database, file);
  return status ? addLaterTables(database) : status;
}

// The same tables in PostgreSQL's words.
std::string postgresTables() {
  std::string sql = fmt::format("{}{}{}{}{}", kLedgerTables, kVerdictTable, kSeverityTable,
                                kCounterTable, kPathChangeTable);
  constexpr std::pair<std::string_view, std::string_view> kWords[] = {
      {" INTEGER PRIMARY KEY", " BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY"},
      {" INTEGER", " BIGINT"},
      {" BLOB", " BYTEA"},
      {" WITHOUT ROWID", ""}};
  for (const auto& [sqlite, postgres] : kWords) {
    for (auto at = sql.find(sqlite); at != std::string::npos; at = sql.find(sqlite, at)) {
      sql.replace(at, sqlite.size(), postgres);
    }
  }
  return sql + kOnlyInPostgres;
}

Status checkPostgres(Database& database, const std::string& entity) {
  const auto tables = database.number(kCountTables);
  if (!tables) return tl::unexpected(tables.error());
  if (*tables == 0) {
    return makeError(entity,
                     "has no history yet; run 'pingloom-controller --config FILE --init-history'");
  }
  if (*tables != kTables) {
    return makeError(
        entity, "has some of a history's tables, but not all: it is no database of pingloom's");
  }
  const auto version = database.number("SELECT version FROM pingloom_history");
  if (!version) return tl::unexpected(version.error());
  if (*version == kLedgerVersion) return {};
  return makeError(entity, fmt::format("the history has format {}, and this pingloom uses format "
                                       "{}: run the version that wrote it, or use another database",
                                       *version, kLedgerVersion));
}

}  // namespace

Status prepareTables(Database& database, const HistoryPlace& place) {
  return database.engine() == Engine::kSqlite ? prepareFile(database, place.text())
                                              : checkPostgres(database, place.text());
}

Status initHistory(const HistoryPlace& place) {
  auto database = Database::open(place);
  if (!database) return tl::unexpected(database.error());
  const auto tables = database->number(kCountTables);
  if (!tables) return tl::unexpected(tables.error());
  if (*tables > 0) return checkPostgres(*database, place.text());
  return database->execute(fmt::format("BEGIN; {} INSERT INTO pingloom_history VALUES({}); COMMIT;",
                                       postgresTables(), kLedgerVersion)
                               .c_str());
}

}  // namespace pingloom::controller
