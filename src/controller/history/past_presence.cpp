#include "controller/history/past_presence.h"

#include <algorithm>
#include <utility>

#include "controller/model/grid_plan.h"
#include "controller/model/state.h"

namespace pingloom::controller {
namespace {

// The state of the pairs of a source that has no window at that time.
std::optional<PairState> silentState(PastPresence::Status status) {
  using Status = PastPresence::Status;
  return status == Status::kNever || status == Status::kNew ? PairState::kPending
                                                            : PairState::kStale;
}

void silentStates(const ProbeGrid& grid, const IpAddress& source, PastPresence::Status status,
                  States& out) {
  const auto from = indexOf(grid.sources, source);
  for (std::size_t i = 0; from && i < grid.destinations.size(); ++i) {
    if (isPair(grid, *from, i)) out[i] = silentState(status);
  }
}

// The state that a window's counts show.
PairState countedState(const PairCounts& counts, bool away) {
  return deriveState(counts,
                     {.source_known = true, .source_alive = true, .destination_away = away});
}

}  // namespace

void PastPresence::add(const PresenceRecord& record) {
  using Kind = PresenceRecord::Kind;
  if (!record.address) {
    if (!begins_utc_) begins_utc_ = record.utc;
    last_start_utc_ = record.utc;
    for (auto& [address, known] : known_) close(known, record.utc);
    return;
  }
  const auto [at, fresh] = known_.try_emplace(*record.address);
  Known& known = at->second;
  if (fresh) known.first_utc = record.utc;
  switch (record.kind) {
    case Kind::kGone:
      close(known, record.utc);
      break;
    case Kind::kCame:
      close(known, record.utc - 1);
      known.stays.push_back({record.utc, INT64_MAX});
      break;
    case Kind::kStayed:
      // The agent was there while a controller started without any knowledge.
      if (!known.stays.empty() && known.stays.back().until_utc >= last_start_utc_) {
        known.stays.back().until_utc = INT64_MAX;
      } else {
        known.stays.push_back({fresh ? 0 : last_start_utc_, INT64_MAX});
      }
      break;
    case Kind::kEndpoint:
      known.endpoints.push_back(record.utc);
      break;
  }
}

void PastPresence::close(Known& known, Nanos utc) {
  if (!known.stays.empty()) {
    known.stays.back().until_utc = std::min(known.stays.back().until_utc, utc);
  }
}

PastPresence::Status PastPresence::at(const IpAddress& address, Nanos utc, Nanos new_since) const {
  if (!begins_utc_ || utc < *begins_utc_) return Status::kUnknown;
  const auto found = known_.find(address);
  if (found == known_.end()) return Status::kNever;
  for (const Stay& stay : found->second.stays) {
    if (stay.from_utc > utc || stay.until_utc < utc) continue;
    return stay.from_utc > new_since ? Status::kNew : Status::kThere;
  }
  return found->second.first_utc <= utc ? Status::kGone : Status::kNever;
}

bool PastPresence::awayIn(const IpAddress& address, Nanos from_utc, Nanos until_utc,
                          bool rdma) const {
  if (!begins_utc_ || from_utc < *begins_utc_) return false;
  const auto found = known_.find(address);
  if (found == known_.end()) return true;
  const Nanos spread = rdma ? kEndpointSpread : 0;
  const Known& known = found->second;
  const bool replaced =
      rdma && std::any_of(known.endpoints.begin(), known.endpoints.end(),
                          [&](Nanos utc) { return utc + spread > from_utc && utc <= until_utc; });
  return replaced || std::none_of(known.stays.begin(), known.stays.end(), [&](const Stay& stay) {
           const Nanos settled = stay.from_utc == 0 ? 0 : stay.from_utc + spread;
           return settled <= from_utc && stay.until_utc >= until_utc;
         });
}

void pastStates(const ProbeGrid& grid, const IpAddress& source,
                const std::optional<PastWindow>& window, const PastPresence& presence, Nanos at_utc,
                States& out) {
  out.assign(grid.destinations.size(), std::nullopt);
  if (!window) {
    const Nanos new_since = at_utc - staleAfter(grid.spec.window, grid.spec.timeout);
    silentStates(grid, source, presence.at(source, at_utc, new_since), out);
    return;
  }
  const bool needs_agent = needsAgent(grid.spec);
  const bool rdma = grid.spec.protocol == Protocol::kRdma;
  const Nanos until = window->endUtc() + grid.spec.timeout;
  std::size_t from = 0;
  for (const auto& [counts, end] : window->counts) {
    // A row of several paths is their merge: if all of its pings were answered, so were theirs.
    const bool may_be_away = needs_agent && counts.received != counts.sent;
    const auto there = counts.sent == 0 ? std::nullopt : std::optional(countedState(counts, false));
    for (std::size_t i = from; i < end; ++i) {
      const bool away = there && may_be_away &&
                        presence.awayIn(grid.destinations[i], window->start_utc, until, rdma);
      out[i] = away ? countedState(counts, true) : there;
    }
    from = end;
  }
}

PairState stateWithPresence(const plan::ProbeSpec& probe, const SourceRows& source, const Row& row,
                            const IpAddress& destination, const PastPresence& presence) {
  const bool away =
      row.received < row.sent && needsAgent(probe) &&
      presence.awayIn(destination, source.window_start_utc, source.endUtc() + probe.timeout,
                      probe.protocol == Protocol::kRdma);
  return countedState(countsOf(row), away);
}

}  // namespace pingloom::controller
