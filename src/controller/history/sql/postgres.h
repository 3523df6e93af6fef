// PostgreSQL as the engine of a history (driver.h), through libpq. A connection is made to the
// first of the servers that accepts writes. Waits have limits: kConnectSeconds for each server,
// kSilenceMs for a host that is gone, kStatementMs for a statement, which the server counts. A
// server that hangs with its connections open is waited for, like a disk that hangs.
//
// Statements that are queued are sent without a wait for their outcome (libpq's pipeline mode), at
// most kMaxQueued of them; any other call takes the outcomes first and returns the first failure.
#pragma once

#include <memory>
#include <string>

#include "common/error.h"
#include "controller/history/sql/driver.h"
#include "controller/history/sql/place.h"

namespace pingloom::controller {

constexpr int kConnectSeconds = 3;
constexpr int kSilenceMs = 5'000;
constexpr int kStatementMs = 30'000;
constexpr std::size_t kMaxQueued = 256;

// `entity` names the database in errors.
Result<std::unique_ptr<DatabaseDriver>> openPostgres(const PostgresPlace& place,
                                                     const std::string& entity);

}  // namespace pingloom::controller
