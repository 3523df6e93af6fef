#include "controller/cluster/cluster_tables.h"

#include <fmt/format.h>

#include <string>

namespace pingloom::controller {
namespace {

constexpr const char* kClusterTables = R"(
CREATE TABLE pingloom_cluster(
  version BIGINT NOT NULL,
  installation TEXT NOT NULL,
  sessions BIGINT NOT NULL,
  changes BIGINT NOT NULL
);
CREATE TABLE pingloom_controllers(
  session BIGINT PRIMARY KEY,
  name TEXT NOT NULL UNIQUE,
  address TEXT NOT NULL,
  http TEXT NOT NULL,
  agents BIGINT NOT NULL,
  lag_ns BIGINT NOT NULL,
  lease_until_ns BIGINT NOT NULL
);
CREATE TABLE pingloom_leader(
  epoch BIGINT PRIMARY KEY,
  session BIGINT NOT NULL
);
INSERT INTO pingloom_leader VALUES(0, 0);
CREATE TABLE pingloom_addresses(
  address BYTEA PRIMARY KEY,
  session BIGINT NOT NULL,
  change BIGINT NOT NULL,
  endpoint BYTEA NOT NULL
);
CREATE INDEX pingloom_addresses_by_change ON pingloom_addresses(change);
)";
constexpr const char* kKeysTable = R"(
CREATE TABLE IF NOT EXISTS pingloom_keys(
  id TEXT NOT NULL,
  authorized TEXT NOT NULL,
  joins TEXT NOT NULL,
  removed TEXT NOT NULL
);
INSERT INTO pingloom_keys SELECT '', '', '', '' WHERE NOT EXISTS (SELECT 1 FROM pingloom_keys);
)";

constexpr const char* kCountClusterTables =
    "SELECT count(*) FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = "
    "c.relnamespace WHERE c.relkind = 'r' AND n.nspname = 'public' AND c.relname IN "
    "('pingloom_cluster', 'pingloom_controllers', 'pingloom_leader', 'pingloom_addresses', "
    "'pingloom_keys')";
constexpr std::int64_t kClusterTableCount = 5;

}  // namespace

Status checkCluster(Database& database, const HistoryPlace& place) {
  const auto tables = database.number(kCountClusterTables);
  if (!tables) return tl::unexpected(tables.error());
  if (*tables != kClusterTableCount) {
    return makeError(place.text(),
                     "has no tables for several controllers; run 'pingloom-controller --config "
                     "FILE --init-history', and grant the controller's role access to them");
  }
  const auto version = database.number("SELECT version FROM pingloom_cluster");
  if (!version) return tl::unexpected(version.error());
  if (*version == kClusterVersion) return {};
  return makeError(place.text(),
                   fmt::format("the tables for several controllers have version {}, and this "
                               "pingloom uses version {}: run the version that made them",
                               *version, kClusterVersion));
}

Result<std::string> installationOf(Database& database) {
  auto select = database.prepare("SELECT installation FROM pingloom_cluster");
  if (!select) return tl::unexpected(select.error());
  const auto row = select->step();
  if (!row) return tl::unexpected(row.error());
  return std::string(*row ? select->bytes(0) : "");
}

Status limitStatements(Database& database) {
  const auto limits =
      fmt::format("SET statement_timeout = {0}; SET idle_in_transaction_session_timeout = {0}",
                  kStatementLimitMs);
  return database.execute(limits.c_str());
}

Status initCluster(const HistoryPlace& place) {
  auto database = Database::open(place);
  if (!database) return tl::unexpected(database.error());
  const auto tables = database->number(kCountClusterTables);
  if (!tables) return tl::unexpected(tables.error());
  std::string sql = "BEGIN; ";
  if (*tables == 0) {
    sql += fmt::format("{} INSERT INTO pingloom_cluster VALUES({}, gen_random_uuid()::text, 0, 0);",
                       kClusterTables, kClusterVersion);
  }
  const auto made = database->execute((sql + kKeysTable + "COMMIT;").c_str());
  return made ? checkCluster(*database, place) : made;
}

}  // namespace pingloom::controller
