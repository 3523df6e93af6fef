#include "controller/history/event_reader.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

namespace pingloom::controller {
namespace {

// An agent that outlived its controller registers again within this time.
constexpr Nanos kLookAhead = 30 * kSecond;

// An operator wants to see the first of these first.
constexpr std::array<PairState, 9> kWorstFirst = {
    PairState::kUnreachable, PairState::kLoss,    PairState::kRefused,
    PairState::kAgentDown,   PairState::kStale,   PairState::kMisfit,
    PairState::kAnomalous,   PairState::kPending, PairState::kOk};

// Whether a bin's worst is worse than what pairs changed to now. A pair that is not judged is no
// worse than one that is well, so its state decides.
bool worse(const EventBin& bin, PairState state, Severity severity) {
  const auto place = [](PairState of) {
    return std::find(kWorstFirst.begin(), kWorstFirst.end(), of);
  };
  const Severity had = std::max(bin.severity, Severity::kOk);
  const Severity has = std::max(severity, Severity::kOk);
  return had != has ? had > has : place(bin.worst) < place(state);
}

std::optional<IpAddress> addressIn(std::string_view bytes) {
  const auto address = IpAddress::fromWire(bytes);
  if (!address) return std::nullopt;
  return *address;
}

PairState stateIn(std::int64_t number) {
  const bool known = number >= 0 && number < static_cast<std::int64_t>(kPairStateNames.size());
  return known ? static_cast<PairState>(number) : PairState::kPending;
}

Severity severityIn(std::int64_t number) {
  return severityNumbered(static_cast<std::uint64_t>(number)).value_or(Severity::kNone);
}

KeptEvent eventIn(const Statement& row) {
  return {row.number(0),
          row.number(1),
          std::string(row.bytes(2)),
          addressIn(row.bytes(3)),
          addressIn(row.bytes(4)),
          stateIn(row.number(5)),
          stateIn(row.number(6)),
          static_cast<std::uint64_t>(row.number(7)),
          severityIn(row.number(8)),
          severityIn(row.number(9))};
}

// Rows come newest first, so the last of several equally bad ones is the earliest.
void count(const Statement& row, const EventQuery& query, std::vector<EventBin>& bins) {
  if (bins.empty()) return;
  const Nanos utc = row.number(0);
  const PairState to = stateIn(row.number(6));
  const Severity severity = severityIn(row.number(9));
  const auto part = static_cast<double>(utc - query.from_utc) /
                    static_cast<double>(query.until_utc - query.from_utc);
  const auto at = static_cast<std::size_t>(part * static_cast<double>(bins.size()));
  EventBin& bin = bins[std::min(at, bins.size() - 1)];
  bin.pairs += static_cast<std::uint64_t>(row.number(7));
  if (bin.events++ > 0 && worse(bin, to, severity)) return;
  bin.worst = to;
  bin.severity = severity;
  bin.utc = utc;
  bin.window_utc = row.number(1);
}

// Calls `visit` for each row of the statement.
template <typename Visit>
Status eachRow(Statement& statement, Visit visit) {
  for (;;) {
    const auto more = statement.step();
    if (!more) return tl::unexpected(more.error());
    if (!*more) return {};
    visit(statement);
  }
}

}  // namespace

Result<FoundEvents> readEvents(Database& database, const EventQuery& query) {
  auto statement = database.prepare(
      "SELECT utc_ns, window_ns, probe, source, destination, before, after, pairs, "
      "severity_before, severity_after FROM events "
      "WHERE utc_ns >= ?1 AND utc_ns < ?2 AND (?3 = '' OR probe = ?3) AND (?4 IS NULL OR source IS "
      "NULL OR source = ?4) AND (?5 IS NULL OR destination IS NULL OR destination = ?5) "
      "ORDER BY utc_ns DESC, id DESC");
  if (!statement) return tl::unexpected(statement.error());
  const std::string source = query.source ? query.source->wire() : "";
  const std::string destination = query.destination ? query.destination->wire() : "";
  statement->bind(1, query.from_utc).bind(2, query.until_utc).bind(3, query.probe);
  if (query.source) statement->bindBlob(4, source);
  if (query.destination) statement->bindBlob(5, destination);
  FoundEvents found;
  found.bins.resize(query.bins);
  auto status = eachRow(*statement, [&](const Statement& row) {
    count(row, query, found.bins);
    if (found.events.size() < query.limit) {
      found.events.push_back(eventIn(row));
    } else {
      ++found.left_out;
    }
  });
  if (!status) return tl::unexpected(status.error());
  std::reverse(found.events.begin(), found.events.end());
  return found;
}

Result<PastPresence> readPresence(Database& database, Nanos from_utc, Nanos until_utc,
                                  const std::optional<IpAddress>& only) {
  // For each address, selects the record that held at the beginning, which kind 3 never does, and
  // all later ones.
  auto statement = database.prepare(
      "SELECT utc_ns, address, kind, id FROM presence WHERE utc_ns > ?1 AND utc_ns <= ?2 AND (?3 "
      "IS NULL OR address = ?3 OR length(address) = 0) "
      "UNION ALL SELECT utc_ns, address, kind, id FROM presence WHERE utc_ns <= ?1 AND kind <> 3 "
      "AND (?3 IS NULL OR address = ?3 OR length(address) = 0) AND NOT EXISTS(SELECT 1 FROM "
      "presence AS newer WHERE newer.address = presence.address AND newer.kind <> 3 AND "
      "newer.utc_ns <= ?1 AND (newer.utc_ns > presence.utc_ns OR (newer.utc_ns = presence.utc_ns "
      "AND newer.id > presence.id))) ORDER BY 1, 4");
  if (!statement) return tl::unexpected(statement.error());
  // A replaced endpoint still matters for a while.
  const Nanos since = from_utc - kLookAhead;
  const std::string address = only ? only->wire() : "";
  statement->bind(1, since).bind(2, until_utc + kLookAhead);
  if (only) statement->bindBlob(3, address);
  PastPresence presence;
  auto status = eachRow(*statement, [&](const Statement& row) {
    const auto of = addressIn(row.bytes(1));
    if (!of && !row.bytes(1).empty()) return;
    presence.add({row.number(0), of, static_cast<PresenceRecord::Kind>(row.number(2))});
  });
  if (!status) return tl::unexpected(status.error());
  return presence;
}

}  // namespace pingloom::controller
