// Creates the tables of a history, or checks that they are those of this version (ledger_schema.h).
#pragma once

#include "common/error.h"
#include "controller/history/sql/database.h"

namespace pingloom::controller {

// Creates the tables in a new SQLite file and adds those that came later to an older one. Refuses a
// file of another format, and a PostgreSQL database without tables or with those of another format.
Status prepareTables(Database& database, const HistoryPlace& place);

// Creates the tables in a PostgreSQL database (`pingloom-controller --init-history`); does nothing
// where they are already.
Status initHistory(const HistoryPlace& place);

}  // namespace pingloom::controller
