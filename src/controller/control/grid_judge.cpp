// The part of Grid that judges pairs.
#include <algorithm>
#include <array>

#include "controller/control/grid.h"
#include "controller/model/grid_plan.h"
#include "controller/model/limits.h"

namespace pingloom::controller {

bool Grid::isJudged(const ProbeGrid& probe, Place place, std::size_t destination,
                    const std::optional<PairState>& state) const {
  if (!state || *state == PairState::kPending || *state == PairState::kStale ||
      *state == PairState::kAgentDown || *state == PairState::kMisfit) {
    return false;
  }
  return maintenance_.empty() || (!maintenance_.contains(probe.sources[place.second]) &&
                                  !maintenance_.contains(probe.destinations[destination]));
}

void Grid::judgeSource(Place place, SourceSnapshot& made, const SourceRows* counted, bool fresh,
                       Nanos now_mono) {
  const ProbeGrid& probe = plan_->probes[place.first];
  Slot& slot = slots_[place.first][place.second];
  Yardstick& yardstick = yardsticks_[place.first];
  if (made.rows == nullptr) return;
  slot.history.resize(probe.destinations.size());
  made.judged.resize(probe.destinations.size());
  if (fresh) yardstick.baseline.take(place.second, &made.rows->rows, yardstick.classes);
  const ProbeBaseline::Classes& baselines = yardstick.baseline.at(now_mono);
  std::array<Limits, kMaxClasses> limits;
  for (std::size_t i = 0; fresh && i < limits.size(); ++i) {
    limits[i] = limitsOf(probe.thresholds, baselines[i], made.rows->clock);
  }
  made.baseline = fresh ? baselines[0] : slot.snapshot->baseline;
  slot.judged = slot.bad = 0;
  forEachPair(probe, place.second, [&](std::size_t i) {
    PairHistory& history = slot.history[i];
    const PackedRow row = made.rows->rows.packed(i);
    if (!row.hasWindow() || !isJudged(probe, place, i, made.states[i])) {
      if (history.judged.severity != Severity::kNone || history.slow != 0 || history.lossy != 0) {
        history = {};
      }
      return;
    }
    if (fresh) {
      const bool again =
          counted != nullptr && i < counted->rows.size() && counted->rows.packed(i).hasWindow();
      judge(history, levelsOf(figuresOf(row), limits[yardstick.classes.of(place.second, i)]), again,
            probe.thresholds.enter, probe.thresholds.leave);
    }
    made.judged[i] = history.judged;
    ++slot.judged;
    slot.bad += history.judged.severity >= Severity::kSlow ? 1 : 0;
  });
  // A source that says nothing any more is no measure for the others.
  if (!fresh && slot.judged == 0) {
    yardstick.baseline.take(place.second, nullptr, yardstick.classes);
  }
}

// Only windows change what the history shows of severities: a pair whose state tells that it is not
// judged is shown so without a record (PastSeverities). Rows from the history were recorded before,
// and those of another controller's agents are recorded there.
void Grid::recordSeverities(Place place, Slot& slot, const SourceSnapshot& made, bool fresh) {
  const bool same =
      made.judged.size() == slot.snapshot->judged.size() &&
      std::equal(made.judged.begin(), made.judged.end(), slot.snapshot->judged.begin(),
                 [](Judged a, Judged b) { return a.severity == b.severity; });
  slot.unrecorded = slot.unrecorded || !same;
  if (!fresh || !slot.unrecorded || slot.agent == 0 || slot.elsewhere || made.rows == nullptr) {
    return;
  }
  slot.unrecorded = false;
  const ProbeGrid& probe = plan_->probes[place.first];
  severities_.push_back({made.rows->window_start_utc, probe.spec.name, probe.sources[place.second],
                         encodeSeverities(probe, made)});
}

std::vector<std::vector<std::shared_ptr<const SourceSnapshot>>> Grid::snapshots() const {
  std::vector<std::vector<std::shared_ptr<const SourceSnapshot>>> made(slots_.size());
  for (std::size_t probe = 0; probe < slots_.size(); ++probe) {
    made[probe].reserve(slots_[probe].size());
    for (const Slot& slot : slots_[probe]) made[probe].push_back(slot.snapshot);
  }
  return made;
}

Grid::JudgedCounts Grid::judgedCounts() const {
  JudgedCounts made;
  for (const auto& sources : slots_) {
    for (const Slot& slot : sources) {
      if (slot.judged == 0) continue;
      made.judged += slot.judged;
      made.bad += slot.bad;
      const SourceRows& rows = *slot.snapshot->rows;
      made.window = std::max(made.window, rows.window);
      if (made.oldest_end_utc == 0 || rows.endUtc() < made.oldest_end_utc) {
        made.oldest_end_utc = rows.endUtc();
      }
    }
  }
  return made;
}

void Grid::resetYardsticks() {
  yardsticks_.clear();
  for (std::uint32_t i = 0; i < plan_->probes.size(); ++i) {
    const ProbeGrid& probe = plan_->probes[i];
    Yardstick& made = yardsticks_.emplace_back(Yardstick{DistanceClasses(*plan_, probe), {}});
    made.baseline.resize(probe.sources.size());
    for (std::uint32_t j = 0; j < slots_[i].size(); ++j) {
      const auto& rows = slots_[i][j].snapshot->rows;
      if (rows != nullptr) made.baseline.take(j, &rows->rows, made.classes);
    }
  }
}

}  // namespace pingloom::controller
