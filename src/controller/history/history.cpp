#include "controller/history/history.h"

#include <utility>

#include "controller/model/report_reader.h"

namespace pingloom::controller {

Result<std::unique_ptr<History>> History::open(const HistoryPlace& place) {
  auto database = Database::openToRead(place);
  if (!database) return tl::unexpected(database.error());
  std::unique_ptr<History> made(new History(std::move(*database)));
  if (auto status = made->prepare(); !status) return tl::unexpected(status.error());
  return made;
}

Status History::prepare() {
  return database_.prepareAll(
      {{&span_, "SELECT (SELECT min(start_ns) FROM blocks), (SELECT max(start_ns) FROM blocks)"},
       // No window is longer than ?4, so the index is searched no further back.
       {&at_,
        "SELECT start_ns, window_ns, path, content FROM blocks WHERE probe = ?1 AND source = ?2 "
        "AND start_ns > ?3 - ?4 AND start_ns <= ?3 AND path = 0 AND start_ns + window_ns > ?3 "
        "ORDER BY start_ns, id"},
       {&count_,
        "SELECT count(*) FROM blocks WHERE probe = ?1 AND source = ?2 AND start_ns >= ?3 AND "
        "start_ns < ?4 AND path = ?5 AND start_ns / window_ns % ?6 = 0"},
       {&between_,
        "SELECT start_ns, window_ns, path, content FROM blocks WHERE probe = ?1 AND source = ?2 "
        "AND start_ns >= ?3 AND start_ns < ?4 AND path = ?5 AND start_ns / window_ns % ?6 = 0 "
        "ORDER BY start_ns, id"}});
}

Result<std::optional<HistorySpan>> History::span() {
  const auto row = span_.step();
  std::optional<HistorySpan> found;
  if (row && *row && span_.number(1) > 0) found = {span_.number(0), span_.number(1)};
  span_.reset();
  if (!row) return tl::unexpected(row.error());
  return found;
}

// Most windows last a minute or less. A search over the longest window would look at hundreds of
// those for each source, so it comes second. If the probe's window was longer before, and windows
// of both lengths contain that time, the shorter one is shown.
Status History::at(std::string_view probe, const IpAddress& source, Nanos at_utc,
                   const PastVisitor& visitor) {
  const std::string address = source.wire();
  bool found = false;
  for (const Nanos longest : {kMinute, kMaxWindow}) {
    at_.bind(1, probe).bindBlob(2, address).bind(3, at_utc).bind(4, longest);
    auto status = visitAll(at_, [&](const PastContent& content) {
      found = true;
      visitor(content);
    });
    if (!status || found) return status;
  }
  return {};
}

void History::bindRange(Statement& statement, const PastRange& range, std::string_view source) {
  statement.bind(1, range.probe)
      .bindBlob(2, source)
      .bind(3, range.from_utc)
      .bind(4, range.until_utc)
      .bind(5, std::int64_t{range.path})
      .bind(6, static_cast<std::int64_t>(range.every));
}

Result<std::uint64_t> History::count(const PastRange& range) {
  const std::string source = range.source.wire();
  bindRange(count_, range, source);
  const auto row = count_.step();
  const auto number = static_cast<std::uint64_t>(count_.number(0));
  count_.reset();
  if (!row) return tl::unexpected(row.error());
  return number;
}

Status History::visit(const PastRange& range, const PastVisitor& visitor) {
  const std::string source = range.source.wire();
  bindRange(between_, range, source);
  return visitAll(between_, visitor);
}

Status History::visitAll(Statement& statement, const PastVisitor& visitor) {
  for (;;) {
    const auto more = statement.step();
    if (!more || !*more) {
      statement.reset();
      if (!more) return tl::unexpected(more.error());
      return {};
    }
    visitor({statement.number(0), statement.number(1),
             static_cast<std::uint32_t>(statement.number(2)), statement.bytes(3)});
  }
}

}  // namespace pingloom::controller
