#include "controller/history.h"

#include <utility>

#include "controller/compression.h"
#include "controller/report_reader.h"

namespace pingloom::controller {
namespace {

constexpr std::size_t kMaxReportBytes = 16U << 20;

}  // namespace

Result<std::unique_ptr<History>> History::open(const std::filesystem::path& file) {
  auto database = Database::openToRead(file);
  if (!database) return tl::unexpected(database.error());
  std::unique_ptr<History> made(new History(std::move(*database)));
  if (auto status = made->prepare(); !status) return tl::unexpected(status.error());
  return made;
}

Status History::prepare() {
  for (const auto& [statement, sql] : std::initializer_list<std::pair<Statement*, const char*>>{
           {&span_, "SELECT min(start_ns), max(start_ns) FROM windows"},
           // No window is longer than ?4: the index is searched no further back.
           {&at_,
            "SELECT start_ns, window_ns, path, report FROM windows WHERE probe = ?1 AND source = "
            "?2 AND start_ns > ?3 - ?4 AND start_ns <= ?3 AND start_ns + window_ns > ?3 "
            "ORDER BY start_ns, id"},
           {&count_,
            "SELECT count(*) FROM windows WHERE probe = ?1 AND source = ?2 AND start_ns >= ?3 AND "
            "start_ns < ?4 AND path = ?5 AND window_index % ?6 = 0"},
           {&between_,
            "SELECT start_ns, window_ns, path, report FROM windows WHERE probe = ?1 AND source = "
            "?2 AND start_ns >= ?3 AND start_ns < ?4 AND path = ?5 AND window_index % ?6 = 0 ORDER "
            "BY start_ns, id"}}) {
    auto prepared = database_.prepare(sql);
    if (!prepared) return tl::unexpected(prepared.error());
    *statement = std::move(*prepared);
  }
  return {};
}

Result<std::optional<HistorySpan>> History::span() {
  const auto row = span_.step();
  std::optional<HistorySpan> found;
  if (row && *row && span_.number(1) > 0) found = {span_.number(0), span_.number(1)};
  span_.reset();
  if (!row) return tl::unexpected(row.error());
  return found;
}

Result<std::vector<PastReport>> History::at(std::string_view probe, const IpAddress& source,
                                            Nanos at_utc) {
  std::vector<PastReport> found;
  const std::string address = source.wire();
  at_.bind(1, probe).bindBlob(2, address).bind(3, at_utc).bind(4, kLongestWindow);
  auto status = readAll(at_, [&](const PastReport& report) { found.push_back(report); });
  if (!status) return tl::unexpected(status.error());
  return found;
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

Status History::visit(const PastRange& range,
                      const std::function<void(const PastReport&)>& visitor) {
  const std::string source = range.source.wire();
  bindRange(between_, range, source);
  return readAll(between_, visitor);
}

Status History::readAll(Statement& statement,
                        const std::function<void(const PastReport&)>& visitor) {
  for (;;) {
    const auto more = statement.step();
    if (!more || !*more) {
      statement.reset();
      if (!more) return tl::unexpected(more.error());
      return {};
    }
    auto report = decompress(statement.bytes(3), kMaxReportBytes);
    if (!report) continue;  // one bad blob is no reason to show nothing
    visitor({statement.number(0), statement.number(1),
             static_cast<std::uint32_t>(statement.number(2)), std::move(*report)});
  }
}

}  // namespace pingloom::controller
