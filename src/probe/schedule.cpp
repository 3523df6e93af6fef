#include "probe/schedule.h"

#include <algorithm>
#include <numeric>

namespace pingloom::probe {
namespace {

// SplitMix64 is small, and unlike std::shuffle it gives the same order on every machine.
class Shuffler {
 public:
  explicit Shuffler(std::uint64_t seed) : state_(seed) {}

  std::uint64_t next() {
    std::uint64_t mixed = (state_ += 0x9e3779b97f4a7c15ULL);
    mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9ULL;
    mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111ebULL;
    return mixed ^ (mixed >> 31);
  }
  // Returns a number below `bound`. Its bias of at most 2^-40 does not matter here.
  std::uint64_t below(std::uint64_t bound) { return next() % bound; }

  void shuffle(std::vector<std::uint32_t>& items) {
    for (std::size_t i = items.size(); i > 1; --i) std::swap(items[i - 1], items[below(i)]);
  }

 private:
  std::uint64_t state_;
};

}  // namespace

ProbeSchedule::ProbeSchedule(Nanos interval, std::size_t targets, Nanos first_mono,
                             std::uint64_t seed)
    : interval_(interval),
      first_(first_mono),
      order_(targets),
      pace_gap_(targets == 0 ? 0 : interval / static_cast<Nanos>(2 * targets)),
      pace_until_(first_mono) {
  std::iota(order_.begin(), order_.end(), 0U);
  Shuffler(seed).shuffle(order_);
}

ProbeSchedule::ProbeSchedule(const ProbeSchedule& before,
                             std::span<const std::uint32_t> new_numbers, Nanos interval,
                             std::size_t targets, Nanos now, std::uint64_t seed)
    : ProbeSchedule(interval, 0, firstDue(interval, targets, now, seed), seed) {
  // Collect the targets that stay, in the order in which they are due next.
  std::vector<bool> stays(targets, false);
  std::vector<std::uint32_t> staying;
  staying.reserve(targets);
  const std::size_t old_targets = before.order_.size();
  for (std::size_t i = 0; i < old_targets; ++i) {
    const std::uint32_t number = new_numbers[before.order_[(before.next_slot_ + i) % old_targets]];
    if (number == kGone) continue;
    staying.push_back(number);
    stays[number] = true;
  }
  std::vector<std::uint32_t> joining;
  for (std::uint32_t i = 0; i < targets; ++i) {
    if (!stays[i]) joining.push_back(i);
  }
  Shuffler shuffler(seed);
  shuffler.shuffle(joining);
  // Merge the two at random; every interleaving is equally likely.
  order_.reserve(targets);
  std::size_t stay = 0;
  std::size_t join = 0;
  while (order_.size() < targets) {
    const std::size_t left = targets - order_.size();
    const bool take_joining = shuffler.below(left) < joining.size() - join;
    order_.push_back(take_joining ? joining[join++] : staying[stay++]);
  }
  if (!staying.empty()) {
    // The next ping keeps its due time, so that frequent plan changes starve no target.
    first_ = std::clamp(before.nextDue(), now, std::max(now, first_));
  }
  pace_gap_ = targets == 0 ? 0 : interval / static_cast<Nanos>(2 * targets);
  pace_until_ = std::min(before.pace_until_, now + kBurst);
}

ProbeSchedule ProbeSchedule::once(Nanos gap, std::size_t targets, Nanos first_mono) {
  ProbeSchedule made(gap * static_cast<Nanos>(targets), targets, first_mono, 0);
  std::iota(made.order_.begin(), made.order_.end(), 0U);
  made.limit(targets);
  return made;
}

Nanos ProbeSchedule::firstDue(Nanos interval, std::size_t targets, Nanos now, std::uint64_t seed) {
  if (targets == 0) return now;
  const Nanos gap = std::min(interval / static_cast<Nanos>(targets), kMaxStart);
  return now + (gap > 0 ? static_cast<Nanos>(Shuffler(~seed).below(gap)) : 0);
}

Nanos ProbeSchedule::dueAt(std::uint64_t slot) const {
  const std::uint64_t targets = order_.size();
  // The product fits, because interval <= 2^42 and place < 2^20.
  return first_ + static_cast<Nanos>(slot / targets) * interval_ +
         static_cast<Nanos>(slot % targets) * interval_ / static_cast<Nanos>(targets);
}

Nanos ProbeSchedule::nextDue() const {
  if (order_.empty() || next_slot_ >= end_slot_) return kNever;
  return std::max(dueAt(next_slot_), pace_until_ - kBurst / 2);
}

void ProbeSchedule::skipOverdue(Nanos now) {
  skipped_from_ = skipped_to_ = next_slot_;
  if (end_slot_ <= order_.size()) return;  // there is only one round
  // Slots up to this time are a whole interval late.
  const Nanos since = now - interval_ - first_;
  if (since < 0) return;
  const auto targets = static_cast<Nanos>(order_.size());
  const Nanos places = since % interval_ * targets / interval_;
  auto first_kept = static_cast<std::uint64_t>(since / interval_ * targets + places);
  while (dueAt(first_kept) <= now - interval_) ++first_kept;
  first_kept = std::min(first_kept, end_slot_);
  if (first_kept <= next_slot_) return;
  skipped_ += first_kept - next_slot_;
  skipped_from_ = next_slot_;
  skipped_to_ = first_kept;
  next_slot_ = first_kept;
}

void ProbeSchedule::take(Nanos now, std::size_t most, std::vector<Due>& out) {
  if (order_.empty()) return;
  skipOverdue(now);
  for (; most > 0 && next_slot_ < end_slot_; --most) {
    const Nanos due = dueAt(next_slot_);
    if (due > now || pace_until_ - kBurst / 2 > now) return;
    out.push_back({order_[next_slot_ % order_.size()], due});
    pace_until_ = std::max(pace_until_, now) + pace_gap_;
    ++next_slot_;
  }
}

}  // namespace pingloom::probe
