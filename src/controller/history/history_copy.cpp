#include "controller/history/history_copy.h"

#include <fmt/format.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/text.h"
#include "controller/history/ledger_tables.h"

namespace pingloom::controller {
namespace {

constexpr std::uint64_t kProgressRows = 1'000;

// A table without its id, if it has one, which the other place numbers anew in the same order. A
// column's kind is n: number, t: text, b: blob, o: blob that is NULL rather than empty.
struct Table {
  const char* name;
  std::vector<std::string> columns;
  std::string_view kinds;
  bool numbered = true;
};

const std::vector<Table>& tables() {
  static const std::vector<Table> all = {
      {"agents", {"host", "incarnation", "sequence", "updated_ns"}, "tnnn", false},
      {"blocks",
       {"probe", "source", "path", "start_ns", "window_ns", "minute", "incarnation", "sequence",
        "content"},
       "tbnnnnnnb"},
      {"events",
       {"utc_ns", "window_ns", "probe", "source", "destination", "before", "after", "pairs",
        "severity_before", "severity_after"},
       "nntoonnnnn"},
      {"presence", {"utc_ns", "address", "kind"}, "nbn"},
      {"verdicts", {"kind", "key", "opened_ns", "closed_ns", "document"}, "ntnnt", false},
      {"severities", {"since_ns", "probe", "source", "content"}, "ntbb"},
      {"counters",
       {"minute_ns", "host", "device", "port", "counter", "kind", "total", "moved"},
       "nttntnnn"},
      {"path_changes",
       {"utc_ns", "probe", "flows", "several", "source", "destination", "path", "hop", "before",
        "after"},
       "ntnnbbnntt"}};
  return all;
}

Result<std::uint64_t> rowsIn(Database& database) {
  std::uint64_t rows = 0;
  for (const Table& table : tables()) {
    const auto count = database.number(fmt::format("SELECT count(*) FROM {}", table.name).c_str());
    if (!count) return tl::unexpected(count.error());
    rows += static_cast<std::uint64_t>(*count);
  }
  return rows;
}

// Column 0 of the row is its id, which is not copied.
void bindRow(const Statement& row, std::string_view kinds, Statement& insert) {
  for (std::size_t at = 0; at < kinds.size(); ++at) {
    const int place = static_cast<int>(at) + 1;
    // SQLite takes a null pointer for NULL, and returns one for empty bytes.
    const std::string_view bytes = row.bytes(place).empty() ? "" : row.bytes(place);
    if (kinds[at] == 'n') {
      insert.bind(place, row.number(place));
    } else if (kinds[at] == 't') {
      insert.bind(place, bytes);
    } else if (kinds[at] == 'b' || !bytes.empty()) {
      insert.bindBlob(place, bytes);
    }
  }
}

class Copy {
 public:
  Copy(Database& from, Database& to, CopyProgress progress,
       const std::function<void(const CopyProgress&)>& report)
      : from_(from), to_(to), progress_(progress), report_(report) {}

  Status run() {
    for (const Table& table : tables()) {
      if (auto status = copy(table); !status) return status;
    }
    report_(progress_);
    return {};
  }
  std::uint64_t done() const { return progress_.done; }

 private:
  // PostgreSQL returns a statement's rows all at once, so those of tables that may be large are
  // read a thousand at a time.
  Status copy(const Table& table) {
    const std::string columns = join(table.columns, ", ");
    const std::string sql =
        table.numbered ? fmt::format("SELECT id, {} FROM {} WHERE id > ?1 ORDER BY id LIMIT {}",
                                     columns, table.name, kProgressRows)
                       : fmt::format("SELECT 0, {} FROM {} WHERE ?1 = 0", columns, table.name);
    auto select = from_.prepare(sql.c_str());
    if (!select) return tl::unexpected(select.error());
    std::string values;
    for (std::size_t at = 1; at <= table.columns.size(); ++at) {
      values += fmt::format("{}?{}", at == 1 ? "" : ", ", at);
    }
    auto insert = to_.prepare(
        fmt::format("INSERT INTO {}({}) VALUES({})", table.name, columns, values).c_str());
    if (!insert) return tl::unexpected(insert.error());
    for (std::int64_t last = 0;;) {
      select->bind(1, last);
      const auto taken = copyRows(*select, table.kinds, *insert, last);
      select->reset();
      if (!taken) return tl::unexpected(taken.error());
      report_(progress_);
      if (*taken == 0 || !table.numbered) return {};
    }
  }

  // `last` becomes the id of the last row that was taken.
  Result<std::uint64_t> copyRows(Statement& select, std::string_view kinds, Statement& insert,
                                 std::int64_t& last) {
    for (std::uint64_t taken = 0;; ++taken) {
      const auto more = select.step();
      if (!more) return tl::unexpected(more.error());
      if (!*more) return taken;
      last = select.number(0);
      bindRow(select, kinds, insert);
      if (auto status = insert.queue(); !status) return tl::unexpected(status.error());
      ++progress_.done;
    }
  }

  Database& from_;
  Database& to_;
  CopyProgress progress_;
  const std::function<void(const CopyProgress&)>& report_;
};

}  // namespace

Result<std::uint64_t> copyHistory(const HistoryPlace& from, const HistoryPlace& to,
                                  const std::function<void(const CopyProgress&)>& progress) {
  if (from.text() == to.text()) return makeError(from.text(), "is both source and destination");
  auto source = Database::openToRead(from);
  if (!source) return tl::unexpected(source.error());
  auto destination = Database::open(to);
  if (!destination) return tl::unexpected(destination.error());
  if (auto status = prepareTables(*destination, to); !status) {
    return tl::unexpected(status.error());
  }
  // Within a transaction the source does not change, even while a controller writes it.
  if (auto status = source->execute(ReadTransaction::beginReading(*source)); !status) {
    return tl::unexpected(status.error());
  }
  const auto all = rowsIn(*source);
  if (!all) return tl::unexpected(all.error());
  const auto present = rowsIn(*destination);
  if (!present) return tl::unexpected(present.error());
  if (*present > 0) {
    return makeError(to.text(), fmt::format("has {} rows already; copy into a history that no "
                                            "controller has used",
                                            *present));
  }
  Copy copy(*source, *destination, {0, *all}, progress);
  auto status = destination->execute("BEGIN");
  if (status) status = copy.run();
  if (status) status = destination->execute("COMMIT");
  if (!status) {
    (void)destination->execute("ROLLBACK");
    return tl::unexpected(status.error());
  }
  return copy.done();
}

}  // namespace pingloom::controller
