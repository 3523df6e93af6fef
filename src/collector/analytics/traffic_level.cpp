#include "collector/analytics/traffic_level.h"

#include <algorithm>
#include <cmath>

#include "collector/analytics/normalizer.h"

namespace pingloom::collector::analytics {
namespace {

constexpr std::uint32_t kMemory = 1440;      // minutes that usual rates follow
constexpr std::uint32_t kFirstMinutes = 30;  // minutes that the first guess counts as
constexpr float kLeastApart = 0.05F;
constexpr std::size_t kKnownMinutes = 3;
constexpr double kFarthestStep = 1;  // one unusual minute must not move the usual rate far
// A rate that follows the group has at most this multiple of the least distance from it.
constexpr float kFollows = 2;

}  // namespace

TrafficLevel::TrafficLevel(const std::vector<bool>& rates) : slots_(rates.size()) {
  for (std::size_t i = 0; i < rates.size(); ++i) {
    slots_[i].rate = rates[i];
    any_ = any_ || rates[i];
  }
  levels_.reserve(rates.size());
  forget();
}

void TrafficLevel::add(std::span<const double> sample) {
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    Slot& slot = slots_[i];
    if (!slot.rate || !usable(sample[i]) || sample[i] < 0) continue;
    slot.sum += sample[i];
    ++slot.samples;
  }
}

void TrafficLevel::endMinute(Slot& slot) {
  slot.minutes[minute_] = slot.samples > 0 ? static_cast<float>(slot.sum / slot.samples) : kUnknown;
  slot.sum = 0;
  slot.samples = 0;
  float sum = 0;
  std::size_t known = 0;
  for (const float minute : slot.minutes) {
    if (!std::isfinite(minute)) continue;
    sum += minute;
    ++known;
  }
  slot.mean = known < kKnownMinutes ? kUnknown : sum / static_cast<float>(known);
  slot.level = kUnknown;
  if (!slot.known || std::isnan(slot.mean)) return;
  const double level = slot.mean > 0 ? std::log(slot.mean) - slot.usual : -kFarthest;
  slot.level = static_cast<float>(std::clamp(level, -kFarthest, kFarthest));
}

std::optional<double> TrafficLevel::endMinute() {
  levels_.clear();
  bool fresh = false;
  for (Slot& slot : slots_) {
    if (!slot.rate) continue;
    endMinute(slot);
    fresh = fresh || (!slot.known && slot.mean > 0);
    if (std::isnan(slot.level)) continue;
    const double apart = std::max(slot.apart, kLeastApart);
    levels_.emplace_back(slot.level, 1 / (apart * apart));
  }
  minute_ = (minute_ + 1) % kMinutes;
  // The first rates of all define the level 0.
  complete_ = !levels_.empty() || (fresh && learned_ == 0);
  if (!complete_) return std::nullopt;
  level_ = levels_.empty() ? 0 : weightedMedian();
  return level_;
}

// Between the two levels in the middle, so that two rates have the level between them.
double TrafficLevel::weightedMedian() {
  std::sort(levels_.begin(), levels_.end());
  double whole = 0;
  for (const auto& [level, weight] : levels_) whole += weight;
  double before = 0, last_place = 0, last = levels_.front().first;
  for (const auto& [level, weight] : levels_) {
    const double place = (before + weight / 2) / whole;
    if (place >= 0.5) {
      const double part = place > last_place ? (0.5 - last_place) / (place - last_place) : 1;
      return before == 0 ? level : last + part * (level - last);
    }
    before += weight;
    last_place = place;
    last = level;
  }
  return last;
}

void TrafficLevel::learn() {
  if (!complete_) return;
  const auto weight = 1 / static_cast<float>(kFirstMinutes + learned_);
  for (Slot& slot : slots_) {
    if (!slot.rate) continue;
    if (!slot.known && slot.mean > 0) {
      slot.known = true;
      slot.usual = std::log(slot.mean) - level_;
    }
    if (std::isnan(slot.level)) continue;
    const double apart = slot.level - level_;
    slot.apart += weight * (static_cast<float>(std::abs(apart)) - slot.apart);
    // One that has stopped keeps its usual rate.
    if (slot.mean > 0) slot.usual += weight * std::clamp(apart, -kFarthestStep, kFarthestStep);
  }
  learned_ = std::min(learned_ + 1, kMemory);
}

void TrafficLevel::forget() {
  for (Slot& slot : slots_) {
    slot.minutes.fill(kUnknown);
    slot.mean = slot.level = kUnknown;
    slot.sum = 0;
    slot.samples = 0;
  }
  complete_ = false;
}

float TrafficLevel::leastApart() const {
  float least = std::numeric_limits<float>::max();
  for (const Slot& slot : slots_) {
    if (!std::isnan(slot.level)) least = std::min(least, slot.apart);
  }
  return least;
}

std::optional<double> TrafficLevel::follows(std::size_t number, float least) const {
  const Slot& slot = slots_[number];
  if (std::isnan(slot.level) || slot.apart > kFollows * std::max(least, kLeastApart)) {
    return std::nullopt;
  }
  return slot.level;
}

double TrafficLevel::rateAt(std::size_t slot, double level) const {
  return std::exp(slots_[slot].usual + level);
}

bool TrafficLevel::takeOver(const TrafficLevel& other, SlotOrigins from) {
  bool kept = false;
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    if (from[i] == kNewSlot || !slots_[i].rate || !other.slots_[from[i]].rate) continue;
    slots_[i] = other.slots_[from[i]];
    kept = kept || slots_[i].known;
  }
  minute_ = other.minute_;
  learned_ = kept ? other.learned_ : 0;
  return kept;
}

void TrafficLevel::Slot::state(StateArchive& archive) {
  archive(rate);
  if (!rate) return;
  archive(known, apart, usual);
  archive.require(apart >= 0 && apart <= 2 * kFarthest && std::abs(usual) <= 1000);
}

void TrafficLevel::state(StateArchive& archive) {
  archive(slots_, learned_);
  archive.require(learned_ <= kMemory);
  if (!archive.reads()) return;
  forget();
  any_ = std::any_of(slots_.begin(), slots_.end(), [](const Slot& slot) { return slot.rate; });
}

}  // namespace pingloom::collector::analytics
