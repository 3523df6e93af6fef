// The tables of the ledger, schema version 1 (PRAGMA user_version).
//
// agents   host         the agent's id
//          incarnation  \ its newest committed batch; it and all before it are
//          sequence     / never counted again
//          updated_ns   when that was, UTC
//
// windows  probe, source (4 or 16 bytes), start_ns (UTC), window_ns, window_index
//          incarnation, sequence   the batch it came with
//          report                  zstd(serialized wire::Report)
//
// A window that an agent delivered in parts has several rows.
#pragma once

namespace pingloom::controller {

constexpr int kLedgerVersion = 1;

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
  report BLOB NOT NULL
);
CREATE INDEX windows_by_source ON windows(probe, source, start_ns);
CREATE INDEX windows_by_start ON windows(start_ns);
PRAGMA user_version = 1;
COMMIT;
)";

}  // namespace pingloom::controller
