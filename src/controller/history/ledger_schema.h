// The tables of the ledger, format version 1: PRAGMA user_version of an SQLite file, the table
// pingloom_history of a PostgreSQL database. A change of a table, or of what a column holds, is a
// new version; tests/unit/controller/history/ledger_format_test.cpp compares them with a file of
// each version. Both engines have the same tables and columns.
//
// agents   host         the agent's id
//          incarnation  \ its newest committed batch; this one and all earlier ones are never
//          sequence     / counted again
//          updated_ns   time of that commit, UTC
//
// blocks   probe, source (4 or 16 bytes), path (0: all paths together)
//          start_ns (UTC), window_ns
//          minute       0: a window as it was reported; 1: a minute of windows
//          incarnation  that of the agent which measured it; the newest one for a minute
//          sequence     that of its batch; 0 for a minute
//          content      the rows, in one block or several: docs/history-format.md
//
// events   utc_ns       the time at which the controller noticed
//          window_ns    start of the newest window that shows it; 0: no window does
//          probe, source, destination (4 or 16 bytes; NULL: several)
//          before, after    PairState
//          pairs        the number of pairs that changed
//          severity_before, severity_after    Severity
//
// presence utc_ns, address (empty: all agents), kind (PresenceRecord::Kind)
//
// verdicts kind (VerdictRecord::Kind), key (an id, or a host), opened_ns, closed_ns (0: open),
//          document     JSON, as model/incident_json.h writes it
//
// severities since_ns    start of the window from which on this was judged
//          probe, source (4 or 16 bytes)
//          content      model/severity_record.h: what is judged of all pairs of the source
//
// counters minute_ns    start of the minute, UTC
//          host         the agent's id
//          device, port (0: a network interface), counter (docs/counters.md), kind (CounterKind)
//          total        the value at the end of the minute
//          moved        by how much it grew; several rows of one minute add up
//
// path_changes utc_ns  the time at which the controller learned of it
//          probe, flows (the number of flows that changed)
//          several      1: flows of other sources too
//          source, destination (4 or 16 bytes), path    the flow that is the example
//          hop          the first of its routers that differs, from 1
//          before, after    its routers, separated by blanks; *: it did not answer
//
// Files of version 1 from before the first release may lack `verdicts`, `severities`, `counters`,
// `path_changes` and the two columns of severities in `events`; opening them adds these.
//
// A window that an agent delivered in parts has several rows in `blocks`, and one of several paths
// has a row for each path and one for all. Times and names stand before the content, because SQLite
// reads a row only as far as it is asked.
#pragma once

namespace pingloom::controller {

constexpr int kLedgerVersion = 1;

constexpr const char* kLedgerSettings = R"(
PRAGMA journal_mode = WAL;
PRAGMA synchronous = NORMAL;
PRAGMA cache_size = -8192;
)";

constexpr const char* kVerdictTable = R"(
CREATE TABLE IF NOT EXISTS verdicts(
  kind INTEGER NOT NULL,
  key TEXT NOT NULL,
  opened_ns INTEGER NOT NULL,
  closed_ns INTEGER NOT NULL,
  document TEXT NOT NULL,
  PRIMARY KEY(kind, key)
) WITHOUT ROWID;
)";

constexpr const char* kSeverityTable = R"(
CREATE TABLE IF NOT EXISTS severities(
  id INTEGER PRIMARY KEY,
  since_ns INTEGER NOT NULL,
  probe TEXT NOT NULL,
  source BLOB NOT NULL,
  content BLOB NOT NULL
);
CREATE INDEX IF NOT EXISTS severities_by_source ON severities(probe, source, since_ns);
CREATE INDEX IF NOT EXISTS severities_by_time ON severities(since_ns);
)";

constexpr const char* kCounterTable = R"(
CREATE TABLE IF NOT EXISTS counters(
  id INTEGER PRIMARY KEY,
  minute_ns INTEGER NOT NULL,
  host TEXT NOT NULL,
  device TEXT NOT NULL,
  port INTEGER NOT NULL,
  counter TEXT NOT NULL,
  kind INTEGER NOT NULL,
  total INTEGER NOT NULL,
  moved INTEGER NOT NULL
);
CREATE INDEX IF NOT EXISTS counters_by_host ON counters(host, minute_ns);
CREATE INDEX IF NOT EXISTS counters_by_time ON counters(minute_ns);
CREATE INDEX IF NOT EXISTS counters_by_kind ON counters(kind);
)";

constexpr const char* kPathChangeTable = R"(
CREATE TABLE IF NOT EXISTS path_changes(
  id INTEGER PRIMARY KEY,
  utc_ns INTEGER NOT NULL,
  probe TEXT NOT NULL,
  flows INTEGER NOT NULL,
  several INTEGER NOT NULL,
  source BLOB NOT NULL,
  destination BLOB NOT NULL,
  path INTEGER NOT NULL,
  hop INTEGER NOT NULL,
  before TEXT NOT NULL,
  after TEXT NOT NULL
);
CREATE INDEX IF NOT EXISTS path_changes_by_time ON path_changes(utc_ns);
)";

constexpr const char* kEventSeverities = R"(
ALTER TABLE events ADD COLUMN severity_before INTEGER NOT NULL DEFAULT 0;
ALTER TABLE events ADD COLUMN severity_after INTEGER NOT NULL DEFAULT 0;
)";

constexpr const char* kLedgerTables = R"(
CREATE TABLE agents(
  host TEXT PRIMARY KEY,
  incarnation INTEGER NOT NULL,
  sequence INTEGER NOT NULL,
  updated_ns INTEGER NOT NULL
) WITHOUT ROWID;
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
CREATE TABLE events(
  id INTEGER PRIMARY KEY,
  utc_ns INTEGER NOT NULL,
  window_ns INTEGER NOT NULL,
  probe TEXT NOT NULL,
  source BLOB,
  destination BLOB,
  before INTEGER NOT NULL,
  after INTEGER NOT NULL,
  pairs INTEGER NOT NULL,
  severity_before INTEGER NOT NULL DEFAULT 0,
  severity_after INTEGER NOT NULL DEFAULT 0
);
CREATE INDEX events_by_time ON events(utc_ns);
CREATE TABLE presence(
  id INTEGER PRIMARY KEY,
  utc_ns INTEGER NOT NULL,
  address BLOB NOT NULL,
  kind INTEGER NOT NULL
);
CREATE INDEX presence_by_address ON presence(address, utc_ns, kind);
CREATE INDEX presence_by_time ON presence(utc_ns);
)";

// What only PostgreSQL's tables have (ledger_tables.cpp translates the others). Blocks are
// compressed already, so it need not try.
constexpr const char* kOnlyInPostgres = R"(
CREATE TABLE pingloom_history(version BIGINT NOT NULL);
ALTER TABLE blocks ALTER COLUMN content SET STORAGE EXTERNAL;
)";

}  // namespace pingloom::controller
