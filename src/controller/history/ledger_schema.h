// The tables of the ledger, schema version 4 (PRAGMA user_version).
//
// agents   host         the agent's id
//          incarnation  \ its newest committed batch; it and all before it are
//          sequence     / never counted again
//          updated_ns   when that was, UTC
//
// blocks   probe, source (4 or 16 bytes), path (of several; 0: of all together)
//          start_ns (UTC), window_ns
//          minute       0: a window as it was reported; 1: windows rolled up
//          incarnation  of the agent that measured it; of a minute the newest
//          sequence     of the batch it came with; 0 of a minute
//          content      the rows, in one block or several: docs/history-format.md
//
// events, presence: event_store.h makes them
//
// A window that an agent delivered in parts has several rows, and one of several paths has a row
// for each of them and one for all. Times and names stand before the content: SQLite reads as
// far as it is asked.
//
// Version 3 had one block in each content. Versions 1 and 2 had the reports as they came, in a
// table `windows`. It stays until all of it has been made into blocks (ledger_upgrade.h), and is
// then dropped.
#pragma once

namespace pingloom::controller {

constexpr int kLedgerVersion = 4;

constexpr const char* kLedgerSettings = R"(
PRAGMA journal_mode = WAL;
PRAGMA synchronous = NORMAL;
PRAGMA cache_size = -8192;
)";

constexpr const char* kAgentsTable = R"(
CREATE TABLE agents(
  host TEXT PRIMARY KEY,
  incarnation INTEGER NOT NULL,
  sequence INTEGER NOT NULL,
  updated_ns INTEGER NOT NULL
) WITHOUT ROWID;
)";

constexpr const char* kBlocksTable = R"(
CREATE TABLE blocks(
  id INTEGER PRIMARY KEY,
  probe TEXT NOT NULL,
  source BLOB NOT NULL,
  path INTEGER NOT NULL,
  start_ns INTEGER NOT NULL,
  window_ns INTEGER NOT NULL,
  minute INTEGER NOT NULL,
  incarnation INTEGER NOT NULL,
  sequence INTEGER NOT NULL,
  content BLOB NOT NULL
);
CREATE INDEX blocks_by_source ON blocks(probe, source, start_ns, path, window_ns);
CREATE INDEX blocks_by_start ON blocks(start_ns);
CREATE INDEX blocks_to_roll_up ON blocks(start_ns) WHERE minute = 0;
)";

constexpr const char* kWindowsFrom1To2 = R"(
ALTER TABLE windows ADD COLUMN path INTEGER NOT NULL DEFAULT 0;
)";

}  // namespace pingloom::controller
