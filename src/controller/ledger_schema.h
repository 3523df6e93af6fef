// The tables of the ledger, schema version 2 (PRAGMA user_version).
//
// agents   host         the agent's id
//          incarnation  \ its newest committed batch; it and all before it are
//          sequence     / never counted again
//          updated_ns   when that was, UTC
//
// windows  probe, source (4 or 16 bytes), start_ns (UTC), window_ns, window_index
//          incarnation, sequence   the batch it came with
//          report                  zstd(serialized wire::Report)
//          path                    of several; 0: of all together (version 1 had none)
//
// events, presence: event_store.h makes them
//
// A window that an agent delivered in parts has several rows, and one of several paths has a row
// for each of them and one for all.
#pragma once

namespace pingloom::controller {

constexpr int kLedgerVersion = 2;

constexpr const char* kLedgerSettings = R"(
PRAGMA journal_mode = WAL;
PRAGMA synchronous = NORMAL;
PRAGMA cache_size = -8192;
)";

constexpr const char* kLedgerTables = R"(
BEGIN;
CREATE TABLE agents(
  host TEXT PRIMARY KEY,
  incarnation INTEGER NOT NULL,
  sequence INTEGER NOT NULL,
  updated_ns INTEGER NOT NULL
) WITHOUT ROWID;
CREATE TABLE windows(
  id INTEGER PRIMARY KEY,
  probe TEXT NOT NULL,
  source BLOB NOT NULL,
  start_ns INTEGER NOT NULL,
  window_ns INTEGER NOT NULL,
  window_index INTEGER NOT NULL,
  incarnation INTEGER NOT NULL,
  sequence INTEGER NOT NULL,
  report BLOB NOT NULL,
  path INTEGER NOT NULL DEFAULT 0
);
CREATE INDEX windows_by_source ON windows(probe, source, start_ns);
CREATE INDEX windows_by_start ON windows(start_ns);
PRAGMA user_version = 2;
COMMIT;
)";

constexpr const char* kLedgerFrom1To2 = R"(
BEGIN;
ALTER TABLE windows ADD COLUMN path INTEGER NOT NULL DEFAULT 0;
PRAGMA user_version = 2;
COMMIT;
)";

}  // namespace pingloom::controller
