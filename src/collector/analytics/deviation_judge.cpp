#include "collector/analytics/deviation_judge.h"

#include <algorithm>
#include <cmath>

namespace pingloom::collector::analytics {

namespace {

constexpr std::uint32_t kBlock = ScoreLimit::kBlock;
constexpr float kQuantile = 0.95F;  // of a block's highest values: the usual highest value
constexpr float kFirstTailStep = 0.5F;
// How much more a block counts that is far above the usual highest value.
constexpr float kFarBlock = 8;
// The least usual highest values: half of those of white noise, but for the jitter, which may be
// that of a metric that moves smoothly.
constexpr std::array<float, 4> kLeastTail = {2, 0.25F, 0.08F, 0.02F};
constexpr float kLeastResidual = 0.7F;
constexpr float kLeastLoad = 0.2F;
// What is smoothed saturates at this multiple of its limit, so that it is forgotten soon after an
// incident, whatever its size.
constexpr double kSaturated = 1.5;
// No single sample counts more than this multiple of what saturates: bursts of a metric that has
// them now and then are no lasting deviation, however high they are. A young judge does not know
// what is high, and would learn what it does not notice at once.
constexpr float kCounted = 1.5F;
constexpr std::uint32_t kYoungBlocks = 120;
// A deviation of this size matters, whatever is said of its slot. It is below what models and the
// judge clamp deviations to.
constexpr double kMattersAlways = 11;
constexpr float kKnownInWarmUp = 10;  // samples at a load
constexpr float kKnownSlot = 30;      // samples of a slot at a load
// How long the load's usual value remembers, in samples. It tells what falls within seconds from
// what wanders within minutes.
constexpr double kLoadMemory = 60;

std::size_t index(Statistic statistic) { return static_cast<std::size_t>(statistic); }

}  // namespace

DeviationJudge::DeviationJudge(std::size_t slots, const Settings& settings)
    : settings_(settings),
      spread_(slots),
      slots_(slots),
      slot_scores_(slots),
      slot_statistics_(slots),
      limits_(kStatistics, ScoreLimit(settings.factor, settings.pace, settings.hysteresis)) {
  clear();
}

double DeviationJudge::of(Tail& tail, double value, bool learning) const {
  if (calm_) tail.highest = std::max(tail.highest, static_cast<float>(value));
  if (learning) tail.usual = std::max(tail.usual, tail.highest);
  return value / tail.usual;
}

void DeviationJudge::observeSlot(std::size_t number, double deviation, double matters,
                                 bool learning) {
  Slot& slot = slots_[number];
  const double fast = 1 / settings_.memory;
  const double slow = fast / kLongMemory;
  const auto bound = [&](Statistic statistic) {
    if (learning) return static_cast<float>(kUnusual);
    const std::size_t i = index(statistic);
    // A statistic that has been 0 for long may have no limit.
    const double limit = std::max(limits_[i].limit(), 0.0);
    return static_cast<float>(kSaturated * limit) * slot.tails[i].usual;
  };
  const auto counted = [&](float value, float most) {
    return blocks_ < kYoungBlocks ? value : std::clamp(value, -most, most);
  };
  const auto smooth = [&](float& smoothed, double weight, float most) {
    const float part = counted(static_cast<float>(deviation), kCounted * most);
    smoothed += static_cast<float>(weight) * (part - smoothed);
    smoothed = std::clamp(smoothed, -most, most);
  };
  smooth(slot.sustained, fast, bound(Statistic::kSustained));
  smooth(slot.lasting, slow, bound(Statistic::kLasting));
  const float step = static_cast<float>(deviation) - slot.last;
  slot.last = static_cast<float>(deviation);
  const float most_square = std::pow(bound(Statistic::kJitter), 2.0F);
  slot.square +=
      static_cast<float>(fast / 2) * (counted(step * step / 2, most_square) - slot.square);
  slot.square = std::min(slot.square, most_square);
  const std::array<double, kOwn> values = {deviation, slot.sustained, slot.lasting,
                                           std::sqrt(slot.square)};
  slot_scores_[number] = 0;
  for (std::size_t i = 0; i < kOwn; ++i) {
    const double ratio = of(slot.tails[i], std::abs(values[i]), learning);
    if (learning && settled_) continue;
    largest_[i] = std::max(largest_[i], ratio);
    double score = ratio / limits_[i].limit();
    // Smoothed statistics saturate, so that the deviation itself may say more.
    const double size = std::max(std::abs(values[i]), std::abs(deviation));
    if (matters > 0) score = std::min(score, size / matters);
    scores_[i] = std::max(scores_[i], score);
    if (score <= std::abs(slot_scores_[number])) continue;
    slot_scores_[number] = std::copysign(score, values[i]);
    slot_statistics_[number] = static_cast<Statistic>(i);
  }
}

// A slot that became active late first learns what is usual, and then how large its statistics
// usually are, because limits of others' statistics say nothing about its own.
DeviationJudge::Part DeviationJudge::partOf(std::size_t slot, const SlotActivity& activity) const {
  if (!activity.active(slot) || !known_) return Part::kNone;
  if (!settled_) return activity.ages()[slot] >= settings_.young ? Part::kJudged : Part::kNone;
  if (!spread_.knows(slot, kKnownSlot)) return Part::kNone;
  if (activity.ages()[slot] >= settings_.young) return Part::kJudged;
  return 2 * activity.ages()[slot] >= settings_.young ? Part::kLearning : Part::kNone;
}

void DeviationJudge::observe(std::span<const double> left, std::span<const double> least,
                             double load, const LoadJumps& known, const SlotActivity& activity,
                             bool calm) {
  calm_ = calm;
  largest_ = scores_ = {};
  spread_.place(load);
  known_ = settled_ ? spread_.known() : spread_.known(kKnownInWarmUp);
  // A young judge finds less than it should if it doubts the means that it has only just learned.
  const float doubt = std::min(1.0F, static_cast<float>(blocks_) / kYoungBlocks);
  double sum = 0;
  double counted = 1;
  double mattering = 0;  // the part of `sum` that matters
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    const Part part = partOf(i, activity);
    double deviation = part == Part::kNone ? 0 : spread_.deviation(i, left[i]);
    deviation *= spread_.certainty(i, doubt);
    deviation = std::clamp(deviation, -kUnusual, kUnusual);
    // Most slots have no least difference.
    const double matters = least[i] > 0 ? std::min(least[i] / spread_.size(i), kMattersAlways) : 0;
    if (part == Part::kJudged) {
      sum += deviation * deviation;
      ++counted;
      if (std::abs(deviation) >= matters) mattering += deviation * deviation;
    }
    observeSlot(i, deviation, matters, !settled_ || part == Part::kLearning);
    const bool old = activity.active(i) && activity.ages()[i] >= settings_.young;
    const double flat = old ? activity.flat(i) : 0;
    largest_[index(Statistic::kFlat)] = std::max(largest_[index(Statistic::kFlat)], flat);
    if (flat <= std::abs(slot_scores_[i])) continue;
    slot_scores_[i] = flat;
    slot_statistics_[i] = Statistic::kFlat;
  }
  largest_[index(Statistic::kResidual)] = of(residual_, std::sqrt(sum / counted), !settled_);
  observeLoad(load, known);
  scores_[index(Statistic::kResidual)] = std::sqrt(mattering / counted) / residual_.usual /
                                         limits_[index(Statistic::kResidual)].limit();
  scores_[index(Statistic::kFlat)] = largest_[index(Statistic::kFlat)];
}

void DeviationJudge::observeLoad(double load, const LoadJumps& known) {
  constexpr auto kThis = static_cast<std::size_t>(Statistic::kLoad);
  if (!any_load_) usual_load_ = load;
  any_load_ = true;
  jump_ = load - usual_load_;
  largest_[kThis] = of(load_, std::abs(jump_), !settled_);
  usual_load_ += jump_ / kLoadMemory;
  scores_[kThis] = largest_[kThis] / limits_[kThis].limit();
  load_score_ = scores_[kThis];
  const bool comes = jump_ > 0 ? jump_ <= known.highest : jump_ >= known.lowest;
  if (comes) scores_[kThis] = std::min(scores_[kThis], 1.0);
}

void DeviationJudge::learn(std::span<const double> left, const SlotActivity& activity, bool over) {
  for (std::size_t i = 0; i < kStatistics; ++i) limits_[i].add(largest_[i], true);
  if (!over || !known_) spread_.learn(left, activity.ages());
  if (++in_block_ == kBlock) endBlock();
}

void DeviationJudge::learnSpread(std::span<const double> left, double load,
                                 const SlotActivity& activity) {
  spread_.place(load);
  spread_.learn(left, activity.ages());
}

void DeviationJudge::endBlock() {
  in_block_ = 0;
  ++blocks_;
  const float pace = static_cast<float>(settings_.pace);
  const float step = std::max(pace, kFirstTailStep / std::pow(static_cast<float>(blocks_), 0.7F));
  const auto follow = [&](Tail& tail) {
    if (tail.highest > tail.usual) {
      const float ratio = tail.highest / tail.usual;
      const float growth =
          std::exp(step * (kQuantile + kFarBlock * std::min(std::log(ratio), 1.0F)));
      tail.usual *= std::min(growth, ratio);
    } else {
      tail.usual = std::max(tail.usual * std::exp(step * (kQuantile - 1)), tail.least);
    }
    tail.highest = 0;
  };
  for (Slot& slot : slots_) std::for_each(slot.tails.begin(), slot.tails.end(), follow);
  follow(residual_);
  follow(load_);
}

void DeviationJudge::inherit(const DeviationJudge& other) {
  slots_ = other.slots_;
  limits_ = other.limits_;
  residual_ = other.residual_;
  blocks_ = other.blocks_;
  settled_ = other.settled_;
}

DeviationJudge::Slot DeviationJudge::freshSlot() {
  Slot fresh;
  std::transform(kLeastTail.begin(), kLeastTail.end(), fresh.tails.begin(), [](float least) {
    return Tail{least, 0, least};
  });
  return fresh;
}

void DeviationJudge::rearrange(SlotOrigins from) {
  spread_.rearrange(from);
  analytics::rearrange(slots_, from, freshSlot());
  slot_scores_.assign(from.size(), 0);
  slot_statistics_.assign(from.size(), Statistic::kPeak);
}

void DeviationJudge::state(StateArchive& archive) {
  archive(spread_, slots_, limits_, residual_, load_, usual_load_, any_load_, settled_, in_block_,
          blocks_);
  archive.require(in_block_ < kBlock);
}

void DeviationJudge::clear() {
  spread_.clear();
  for (ScoreLimit& limit : limits_) limit.clear();
  std::fill(slots_.begin(), slots_.end(), freshSlot());
  std::fill(slot_scores_.begin(), slot_scores_.end(), 0);
  residual_ = {kLeastResidual, 0, kLeastResidual};
  load_ = {kLeastLoad, 0, kLeastLoad};
  scores_ = largest_ = {};
  any_load_ = known_ = settled_ = false;
  in_block_ = blocks_ = 0;
}

}  // namespace pingloom::collector::analytics
