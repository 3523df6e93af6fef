// The part of Grid that derives the states of a source's pairs.
#include <algorithm>
#include <utility>

#include "controller/control/grid.h"
#include "controller/model/grid_plan.h"

namespace pingloom::controller {
namespace {

// Tells whether the agent is away or was away at some time since `start_utc`. An agent without an
// RDMA endpoint is not away: its host's port cannot be reached, and its peers' counts show that.
bool wasAway(const Presence& there, bool rdma, Nanos start_utc) {
  if (!there.alive || there.since_utc > start_utc) return true;
  if (!rdma) return false;
  const Nanos since = std::max(there.since_utc, there.endpoint_since_utc);
  return there.endpoint && since != 0 && since + kEndpointSpread > start_utc;
}

SourceSnapshot emptyStates(const SourceRows* rows, std::size_t destinations) {
  SourceSnapshot made;
  made.states.resize(destinations);
  if (rows == nullptr) return made;
  made.path_states.resize(rows->paths.size());
  for (std::size_t k = 0; k < rows->paths.size(); ++k) {
    if (rows->paths[k] != nullptr) made.path_states[k].resize(destinations);
  }
  return made;
}

}  // namespace

Nanos Grid::staleAt(std::uint32_t probe, const SourceRows& rows) const {
  return rows.endUtc() + staleAfter(rows.window, plan_->probes[probe].spec.timeout);
}

SourceSnapshot Grid::derive(Place place, std::shared_ptr<const SourceRows> rows,
                            Instant now) const {
  const ProbeGrid& probe = plan_->probes[place.first];
  const IpAddress& source = probe.sources[place.second];
  const bool rdma = probe.spec.protocol == Protocol::kRdma;
  const Presence own = registry_.presence(source);
  PairFacts facts;
  facts.source_known = own.known;
  facts.source_alive = own.alive;
  facts.window_outdated = rows != nullptr && staleAt(place.first, *rows) <= now.utc;
  facts.needs_agent = needsAgent(probe.spec);
  SourceSnapshot made = emptyStates(rows.get(), probe.destinations.size());
  forEachPair(probe, place.second, [&](std::size_t i) {
    const IpAddress& destination = probe.destinations[i];
    const PairCounts row = rows == nullptr ? PairCounts() : countsOf(rows->rows.packed(i));
    // With several paths the row is their sum; if that is complete, each path is.
    facts.destination_away = row.received < row.sent && facts.needs_agent &&
                             wasAway(registry_.presence(destination), rdma, rows->window_start_utc);
    made.states[i] = deriveState(row, facts);
    for (std::size_t k = 0; k < made.path_states.size(); ++k) {
      if (rows->paths[k] == nullptr) continue;
      const PairCounts counts = countsOf(rows->paths[k]->packed(i));
      if (counts.sent > 0) made.path_states[k][i] = deriveState(counts, facts);
    }
  });
  made.rows = std::move(rows);
  made.here = isHere(place);
  return made;
}

// An agent that has moved is not here, even if its newest report was taken here, and its rows are
// not from here before its first report.
bool Grid::isHere(Place place) const {
  const Slot& slot = slots_[place.first][place.second];
  const Agent* owner = registry_.owner(plan_->probes[place.first].sources[place.second]);
  return slot.agent != 0 && !slot.elsewhere && owner != nullptr && owner->id == slot.agent &&
         owner->info.isHere();
}

}  // namespace pingloom::controller
