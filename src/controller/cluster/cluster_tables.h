// The tables by which several controllers share one history in PostgreSQL. They stand beside the
// history's own (history/ledger_schema.h). All times are the database's.
//
// pingloom_cluster      version       of these tables
//                       installation  a random id; a controller remembers it in its state_dir
//                       sessions      the last session that was given
//                       changes       the last number of a change of pingloom_addresses
// pingloom_controllers  session       of a member; it ends when the row is removed
//                       name          unique
//                       address, http, agents, lag_ns    what it told about itself
//                       lease_until_ns    when any member may remove the row, UTC
// pingloom_leader       epoch         grows with each leader
//                       session       the leader's; 0: nobody has led yet
// pingloom_addresses    address       4 or 16 bytes
//                       session       that of the controller with which its agent is registered
//                       change        grows with each transaction
//                       endpoint      wire::Endpoint; empty: none (any more)
// pingloom_keys         id            another one with each change; empty: nobody has written yet
//                       authorized    the text of authorized_keys.yaml (docs/keys.md); no secrets
//                       joins         the text of join.yaml
//                       removed       what was revoked, and when (keys/key_merge.h)
#pragma once

#include <string>

#include "common/error.h"
#include "controller/history/sql/database.h"
#include "controller/history/sql/place.h"

namespace pingloom::controller {

constexpr int kClusterVersion = 1;

// Creates the tables that are not there. REQUIRES: the place is in PostgreSQL.
Status initCluster(const HistoryPlace& place);
// Returns an error if the tables are missing or of another version.
Status checkCluster(Database& database, const HistoryPlace& place);
// The random id of the installation that the database belongs to.
Result<std::string> installationOf(Database& database);
// From now on a statement, and a transaction that stands still, ends after kStatementLimitMs.
constexpr int kStatementLimitMs = 1500;
Status limitStatements(Database& database);

}  // namespace pingloom::controller
