// The states of a source's pairs, derived anew.
#include <algorithm>
#include <utility>

#include "controller/grid.h"
#include "controller/grid_plan.h"

namespace pingloom::controller {
namespace {

// What is known of a destination beside the counts, as PairFacts has it.
class DestinationFacts {
 public:
  // `rows`: of the source; may be nullptr.
  DestinationFacts(const ProbeGrid& probe, const SourceRows* rows, bool outdated)
      : rdma_(probe.spec.protocol == Protocol::kRdma), rows_(rows), outdated_(outdated) {}

  // The source's windows are of before the destination came back: they say nothing about it.
  bool windowIsOfBefore(const Presence& there) const {
    return rdma_ && outdated_ && isThere(there) && since(there) > rows_->endUtc();
  }
  void writeTo(PairFacts& facts, const Presence& there) const {
    facts.not_pinged = rdma_ && there.known && !isThere(there);
    facts.destination_away =
        !isThere(there) || (rows_ != nullptr && since(there) > rows_->window_start_utc);
  }

 private:
  // Until then all sources have the endpoint of a destination that came or changed.
  static constexpr Nanos kEndpointSpread = kSecond;

  bool isThere(const Presence& there) const { return there.alive && (!rdma_ || there.endpoint); }
  Nanos since(const Presence& there) const {
    if (!rdma_) return there.since_utc;
    const Nanos latest = std::max(there.since_utc, there.endpoint_since_utc);
    return latest == 0 ? 0 : latest + kEndpointSpread;
  }

  bool rdma_;
  const SourceRows* rows_;
  bool outdated_;
};

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

const std::vector<Presence>& Grid::destinationsOf(std::uint32_t probe) {
  Destinations& known = destinations_[probe];
  const plan::AddressList& list = plan_->probes[probe].destinations;
  if (known.revision == registry_.revision() && known.presence.size() == list.size()) {
    return known.presence;
  }
  known.revision = registry_.revision();
  known.presence.clear();
  known.presence.reserve(list.size());
  for (const IpAddress& address : list) known.presence.push_back(registry_.presence(address));
  return known.presence;
}

SourceSnapshot Grid::derive(Place place, std::shared_ptr<const SourceRows> rows, Now now) {
  static const Row no_row;
  const ProbeGrid& probe = plan_->probes[place.first];
  const IpAddress& source = probe.sources[place.second];
  const bool rdma = probe.spec.protocol == Protocol::kRdma;
  const std::vector<Presence>* there = rdma ? &destinationsOf(place.first) : nullptr;
  const Presence own = registry_.presence(source);
  const bool outdated = rows != nullptr && staleAt(place.first, *rows) <= now.utc;
  const DestinationFacts known(probe, rows.get(), outdated);
  PairFacts facts;
  facts.source_known = own.known;
  facts.source_alive = own.alive;
  facts.needs_agent = needsAgent(probe.spec);
  SourceSnapshot made = emptyStates(rows.get(), probe.destinations.size());
  for (std::size_t i = 0; i < probe.destinations.size(); ++i) {
    if (!isPair(probe, source, probe.destinations[i])) continue;
    const Row& row = rows == nullptr ? no_row : rows->rows[i];
    facts.window_outdated = outdated;
    if (rdma) {
      const bool of_before = known.windowIsOfBefore((*there)[i]);
      known.writeTo(facts, (*there)[i]);
      facts.window_outdated = outdated && !of_before;
      made.states[i] = deriveState(of_before ? no_row : row, facts);
    } else {
      facts.destination_away = false;
      if (row.received < row.sent && facts.needs_agent) {
        known.writeTo(facts, registry_.presence(probe.destinations[i]));
      }
      made.states[i] = deriveState(row, facts);
    }
    for (std::size_t k = 0; k < made.path_states.size(); ++k) {
      if (rows->paths[k] == nullptr || (*rows->paths[k])[i].sent == 0) continue;
      made.path_states[k][i] = deriveState((*rows->paths[k])[i], facts);
    }
  }
  made.rows = std::move(rows);
  return made;
}

}  // namespace pingloom::controller
