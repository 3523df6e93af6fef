#include "controller/control/grid.h"

#include <algorithm>
#include <utility>

#include "controller/model/grid_plan.h"

namespace pingloom::controller {
namespace {

constexpr std::size_t kEventsAtOnce = 1000;
// If more agents than this change at once, every source is derived instead of every destination's
// column.
constexpr std::size_t kMassChange = 64;
constexpr Nanos kMinPublishPause = 20 * kMillisecond;
constexpr Nanos kMaxPublishPause = kSecond;

}  // namespace

std::optional<Grid::Place> Grid::placeOf(std::string_view probe, const IpAddress& source) const {
  const auto found = probes_.find(probe);
  if (found == probes_.end()) return std::nullopt;
  const auto index = indexOf(plan_->probes[found->second].sources, source);
  if (!index) return std::nullopt;
  return Place{found->second, *index};
}

void Grid::refresh(Place place, std::shared_ptr<const SourceRows> rows, Instant now, bool fresh,
                   const SourceRows* counted) {
  Slot& slot = slots_[place.first][place.second];
  SourceSnapshot next = derive(place, std::move(rows), now);
  judgeSource(place, next, counted, fresh, now.mono);
  recordSeverities(place, slot, next, fresh);
  if (next == *slot.snapshot) return;
  auto made = std::make_shared<const SourceSnapshot>(std::move(next));
  noteChanges(place, *slot.snapshot, *made, now);
  slot.snapshot = made;
  board_.publishSource(place.first, place.second, std::move(made));
}

void Grid::noteChanges(Place place, const SourceSnapshot& before, const SourceSnapshot& after,
                       Instant now) {
  const ProbeGrid& probe = plan_->probes[place.first];
  const std::uint32_t source = place.second;
  const Agent* owner = registry_.owner(probe.sources[source]);
  const bool elsewhere =
      owner == nullptr ? slots_[place.first][source].elsewhere : !owner->info.isHere();
  const Nanos window_start = after.rows == nullptr ? 0 : after.rows->window_start_utc;
  forEachPair(probe, source, [&](std::size_t i) {
    if (!after.states[i]) return;
    const PairState from = i < before.states.size() ? before.states[i].value_or(PairState::kPending)
                                                    : PairState::kPending;
    const Severity was = before.severityOf(i);
    const Severity is = after.severityOf(i);
    if (from == *after.states[i] && was == is) return;
    events_.push_back({now.utc, probe.spec.name, probe.sources[source], probe.destinations[i], from,
                       *after.states[i], window_start, was, is, elsewhere, after.here});
    if (events_.size() >= kEventsAtOnce) publishEvents();
  });
}

void Grid::publishEvents() {
  board_.publishEvents(events_);
  if (kept_ != nullptr) {
    for (const StateEvent& event : events_) {
      if (!event.elsewhere) kept_->add(event);
    }
  }
  events_.clear();
}

void Grid::watchStale(Place place) {
  Slot& slot = slots_[place.first][place.second];
  if (slot.snapshot->rows == nullptr) return;
  const Nanos due = staleAt(place.first, *slot.snapshot->rows);
  if (due >= slot.reminder) return;
  slot.reminder = due;
  stale_.add(due, place);
}

void Grid::markDirty(Place place) {
  Slot& slot = slots_[place.first][place.second];
  if (std::exchange(slot.dirty, true)) return;
  dirty_.push_back(place);
}

void Grid::markDestination(std::uint32_t probe, const IpAddress& address) {
  const ProbeGrid& shape = plan_->probes[probe];
  const auto index = indexOf(shape.destinations, address);
  if (!index || !needsAgent(shape.spec)) return;
  for (std::uint32_t source = 0; source < slots_[probe].size(); ++source) {
    const SourceRows* rows = slots_[probe][source].snapshot->rows.get();
    if (rows == nullptr) continue;
    const PairCounts counts = countsOf(rows->rows.packed(*index));
    if (counts.received == counts.sent) continue;
    markDirty({probe, source});
  }
}

void Grid::presenceChanged(const std::vector<IpAddress>& addresses) {
  for (std::uint32_t probe = 0; probe < slots_.size(); ++probe) {
    if (addresses.size() > kMassChange) {
      for (std::uint32_t i = 0; i < slots_[probe].size(); ++i) markDirty({probe, i});
      continue;
    }
    for (const IpAddress& address : addresses) {
      if (const auto own = indexOf(plan_->probes[probe].sources, address)) markDirty({probe, *own});
      markDestination(probe, address);
    }
  }
}

void Grid::runDue(Instant now) {
  while (const auto place = stale_.take(now.utc)) {
    Slot& slot = slots_[place->first][place->second];
    slot.reminder = kNever;
    const SourceRows& rows = *slot.snapshot->rows;
    if (staleAt(place->first, rows) <= now.utc) {
      markDirty(*place);
    } else {
      watchStale(*place);
    }
  }
  if (!dirty_.empty() && dirty_due_utc_ <= now.utc) {
    const Nanos started = monotonicNow();
    for (const Place& place : std::exchange(dirty_, {})) {
      Slot& slot = slots_[place.first][place.second];
      slot.dirty = false;
      refresh(place, slot.snapshot->rows, now);
    }
    const Nanos pause =
        std::clamp(4 * (monotonicNow() - started), kMinPublishPause, kMaxPublishPause);
    dirty_due_utc_ = now.utc + pause;
  } else if (dirty_due_utc_ > now.utc + kMaxPublishPause) {
    dirty_due_utc_ = now.utc;  // the clock was set back
  }
  publishEvents();
}

Nanos Grid::nextDueUtc() const {
  return dirty_.empty() ? stale_.next() : std::min(stale_.next(), dirty_due_utc_);
}

Grid::Slot Grid::carryOver(const ProbeGrid& probe, const IpAddress& source) const {
  Slot made;
  auto snapshot = std::make_shared<SourceSnapshot>();
  snapshot->states.resize(probe.destinations.size());
  const auto place = placeOf(probe.spec.name, source);
  if (!place || plan_->probes[place->first].spec.protocol != probe.spec.protocol) {
    made.snapshot = std::move(snapshot);
    return made;
  }
  const Slot& old = slots_[place->first][place->second];
  const plan::AddressList& old_list = plan_->probes[place->first].destinations;
  made.agent = old.agent;
  made.elsewhere = old.elsewhere;
  const bool same_paths = plan_->probes[place->first].paths() == probe.paths();
  const bool same_pairs =
      plan_->probes[place->first].targets == nullptr && probe.targets == nullptr;
  if (old_list == probe.destinations && same_paths && same_pairs) {
    made.snapshot = old.snapshot;
    made.history = old.history;
    return made;
  }
  std::shared_ptr<SourceRows> rows;
  if (old.snapshot->rows != nullptr) {
    rows = std::make_shared<SourceRows>();
    *rows = *old.snapshot->rows;
    rows->rows = Rows(probe.destinations.size());
    rows->paths.assign(probe.paths(), nullptr);  // they arrive with the next window
  }
  DestinationFinder finder(old_list);
  const std::size_t own = *indexOf(probe.sources, source);
  if (!old.history.empty()) made.history.resize(probe.destinations.size());
  if (!old.snapshot->judged.empty()) snapshot->judged.resize(probe.destinations.size());
  forEachPair(probe, own, [&](std::size_t i) {
    const auto at = finder.find(probe.destinations[i]);
    if (!at) return;
    if (!old.history.empty()) made.history[i] = old.history[*at];
    snapshot->states[i] = old.snapshot->states[*at];
    if (!snapshot->judged.empty()) snapshot->judged[i] = old.snapshot->judgedOf(0, *at);
    if (rows == nullptr) return;
    const PackedRow row = old.snapshot->rows->rows.packed(*at);
    if (row.hasWindow()) rows->rows.set(i, row);
  });
  snapshot->rows = std::move(rows);
  made.snapshot = std::move(snapshot);
  return made;
}

void Grid::setPlan(std::shared_ptr<const GridPlan> plan, Instant now) {
  std::vector<std::vector<Slot>> slots(plan->probes.size());
  for (std::size_t i = 0; i < plan->probes.size(); ++i) {
    const ProbeGrid& probe = plan->probes[i];
    for (const IpAddress& source : probe.sources) slots[i].push_back(carryOver(probe, source));
  }
  plan_ = std::move(plan);
  slots_ = std::move(slots);
  resetYardsticks();
  if (latency_ != nullptr) latency_->setPlan(*plan_);
  probes_.clear();
  stale_.clear();
  dirty_.clear();
  Board::Sources snapshots(slots_.size());
  for (std::uint32_t i = 0; i < slots_.size(); ++i) {
    const ProbeGrid& probe = plan_->probes[i];
    probes_[probe.spec.name] = i;
    for (std::uint32_t j = 0; j < slots_[i].size(); ++j) {
      Slot& slot = slots_[i][j];
      SourceSnapshot next = derive({i, j}, slot.snapshot->rows, now);
      judgeSource({i, j}, next, nullptr, false, now.mono);
      if (next != *slot.snapshot) {
        auto made = std::make_shared<const SourceSnapshot>(std::move(next));
        noteChanges({i, j}, *slot.snapshot, *made, now);
        slot.snapshot = std::move(made);
      }
      snapshots[i].push_back(slot.snapshot);
      watchStale({i, j});
    }
  }
  board_.publishPlan(plan_, std::move(snapshots));
  publishEvents();
}

}  // namespace pingloom::controller
