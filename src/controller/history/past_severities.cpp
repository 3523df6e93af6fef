#include "controller/history/past_severities.h"

#include <algorithm>
#include <string>

namespace pingloom::controller {
namespace {

// As Grid::isJudged(): such a pair has no window that could be judged, whatever was judged before.
bool canBeJudged(const std::optional<PairState>& state) {
  return state && *state != PairState::kPending && *state != PairState::kStale &&
         *state != PairState::kAgentDown;
}

// Returns the first address from `at` on that is not below `address`. Its steps grow, because it
// may be the next address or far away.
using Place = plan::AddressList::const_iterator;
Place notBelow(const IpAddress& address, Place at, Place end) {
  std::ptrdiff_t step = 1;
  for (; step < end - at && at[step - 1] < address; step *= 2) at += step;
  return std::lower_bound(at, at + std::min(step, end - at), address);
}

// Writes the severity of each destination of the grid. Both lists ascend.
void spread(const SourceSeverities& severities, const ProbeGrid& grid, std::vector<Severity>& out) {
  std::fill(out.begin(), out.end(), severities.usual);
  const auto& destinations = grid.destinations;
  auto at = destinations.begin();
  for (const auto& [address, severity] : severities.others) {
    at = notBelow(address, at, destinations.end());
    if (at == destinations.end()) return;
    if (*at == address) out[static_cast<std::size_t>(at++ - destinations.begin())] = severity;
  }
}

void addRise(const std::vector<Severity>& from, const std::vector<Severity>& to, Nanos utc,
             std::vector<PastSeverities::Rise>& rises) {
  Severity highest = Severity::kNone;
  for (std::size_t i = 0; i < to.size(); ++i) {
    if (to[i] > from[i]) highest = std::max(highest, to[i]);
  }
  if (highest >= Severity::kSlow) rises.push_back({utc, highest});
}

}  // namespace

Result<PastSeverities> PastSeverities::open(Database& database) {
  PastSeverities made;
  auto prepared = database.prepareAll(
      {{&made.between_,
        "SELECT since_ns, content FROM severities WHERE probe = ?1 AND source = ?2 AND since_ns < "
        "?4 AND since_ns >= coalesce((SELECT max(since_ns) FROM severities WHERE probe = ?1 AND "
        "source = ?2 AND since_ns <= ?3), 0) ORDER BY since_ns DESC, id DESC LIMIT ?5"}});
  if (!prepared) return tl::unexpected(prepared.error());
  return made;
}

template <typename Visit>
Status PastSeverities::each(std::string_view probe, const IpAddress& source, Nanos from_utc,
                            Nanos until_utc, Visit visit) {
  const std::string address = source.wire();
  between_.bind(1, probe)
      .bindBlob(2, address)
      .bind(3, from_utc)
      .bind(4, until_utc)
      .bind(5, kMaxRecords);
  // A window that came in several parts has a record for each; the last one counts.
  Nanos last = -1;
  for (;;) {
    const auto more = between_.step();
    if (!more || !*more) {
      between_.reset();
      if (!more) return tl::unexpected(more.error());
      return {};
    }
    const Nanos since = between_.number(0);
    if (since == last) continue;
    last = since;
    const auto severities = decodeSeverities(between_.bytes(1));
    visit(since, severities ? *severities : SourceSeverities());
  }
}

Status PastSeverities::worst(const ProbeGrid& grid, const IpAddress& source, Nanos from_utc,
                             Nanos until_utc, std::vector<Judged>& out, std::vector<Rise>* rises) {
  out.assign(grid.destinations.size(), {});
  std::vector<Severity> now(out.size());
  std::vector<Severity> next(out.size());  // of the record that is newer by one
  Nanos next_since = 0;
  auto status = each(grid.spec.name, source, from_utc, until_utc,
                     [&](Nanos since, const SourceSeverities& severities) {
                       spread(severities, grid, now);
                       for (std::size_t i = 0; i < out.size(); ++i) {
                         out[i].severity = std::max(out[i].severity, now[i]);
                       }
                       if (rises == nullptr) return;
                       if (next_since != 0) addRise(now, next, next_since, *rises);
                       now.swap(next);
                       next_since = std::max(since, from_utc);
                     });
  if (rises == nullptr) return status;
  // What was bad already when the time began counts as well.
  now.assign(out.size(), Severity::kNone);
  if (next_since != 0) addRise(now, next, next_since, *rises);
  std::sort(rises->begin(), rises->end(), [](const Rise& a, const Rise& b) {
    return std::pair(a.to, a.utc) > std::pair(b.to, b.utc);
  });
  return status;
}

Status PastSeverities::read(const ProbeGrid& grid, const IpAddress& source, Nanos from_utc,
                            Nanos until_utc, const States& states, std::vector<Judged>& out) {
  auto status = worst(grid, source, from_utc, until_utc, out);
  for (std::size_t i = 0; i < out.size(); ++i) {
    if (i >= states.size() || !canBeJudged(states[i])) out[i] = {};
  }
  return status;
}

Result<PastSeverities::Timeline> PastSeverities::timeline(std::string_view probe,
                                                          const IpAddress& source,
                                                          const IpAddress& destination,
                                                          Nanos from_utc, Nanos until_utc) {
  Timeline made;
  auto status = each(probe, source, from_utc, until_utc,
                     [&](Nanos since, const SourceSeverities& severities) {
                       made.emplace_back(since, severities.of(destination));
                     });
  if (!status) return tl::unexpected(status.error());
  std::reverse(made.begin(), made.end());
  return made;
}

Severity worstIn(const PastSeverities::Timeline& timeline, Nanos from_utc, Nanos until_utc,
                 PairState state) {
  Severity worst = Severity::kNone;
  if (!canBeJudged(state)) return worst;
  const auto later = [](Nanos utc, const auto& entry) { return utc < entry.first; };
  auto at = std::upper_bound(timeline.begin(), timeline.end(), from_utc, later);
  if (at != timeline.begin()) --at;
  for (; at != timeline.end() && at->first < until_utc; ++at) worst = std::max(worst, at->second);
  return worst;
}

}  // namespace pingloom::controller
