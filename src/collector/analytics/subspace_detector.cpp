#include "collector/analytics/subspace_detector.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace pingloom::collector::analytics {

namespace {

// The warm-up has three parts: scale, mean and variance; directions; what is left.
constexpr std::uint32_t kWarmUpParts = 3;

// A load is counted in this share of its deviation in the rows that its direction was learned from.
// A warm-up sees little of a day's loads.
constexpr double kColdUnit = 1;

constexpr double kRecent = 0.2;  // the weight of a sample in a slot's recent score

// A group for which no model is fitted has a history for its warm-up only.
std::size_t historyRows(const SubspaceSettings& settings, std::size_t slots) {
  const bool learned = settings.learned && slots <= SubspaceDetector::kMaxLearnedSlots;
  return learned ? SubspaceDetector::kHistoryRows : 2 * AutoencoderFit::kBatch;
}

}  // namespace

Status SubspaceDetector::check(const SubspaceSettings& settings, std::size_t slots) {
  const auto refuse = [](std::string_view reason) { return makeError("anomaly detector", reason); };
  if (slots < 1 || slots > FrequentDirections::kMaxDimensions) {
    return refuse(fmt::format("a group of {} slots: must be 1 to {}", slots,
                              FrequentDirections::kMaxDimensions));
  }
  if (settings.directions < 2 || settings.directions > FrequentDirections::kMaxDirections) {
    return refuse(fmt::format("{} directions: must be 2 to {}", settings.directions,
                              FrequentDirections::kMaxDirections));
  }
  if (settings.max_rank >= settings.directions) return refuse("max_rank must be below directions");
  if (!(settings.shared >= 1 && settings.shared <= 1e6)) return refuse("shared must be 1 to 10^6");
  if (!(settings.memory >= 1 && settings.memory <= 1e6)) return refuse("memory must be 1 to 10^6");
  const auto least = static_cast<std::uint32_t>(kWarmUpParts * 3 * settings.directions);
  if (settings.warm_up < least || settings.warm_up > kMaxWarmUp) {
    return refuse(fmt::format("a warm-up of {} samples: must be {} to {}", settings.warm_up, least,
                              kMaxWarmUp));
  }
  if (!(settings.half_life >= 1 && settings.half_life <= 1e9)) {
    return refuse("half_life must be 1 to 10^9 samples");
  }
  if (!(settings.factor > 1 && settings.factor <= 1000)) {
    return refuse("factor must be above 1 and at most 1000");
  }
  if (!(settings.evidence >= 0 && settings.evidence <= kMaxEvidence)) {
    return refuse(fmt::format("evidence must be 0 to {}", kMaxEvidence));
  }
  if (settings.relearn_after < 1) return refuse("relearn_after must be 1 or more");
  if (!(settings.pace >= 0 && settings.pace <= 0.1)) return refuse("pace must be 0 to 0.1");
  if (!Hysteresis::valid(settings.hysteresis)) {
    return refuse(fmt::format("{} of {} samples: must be 1 <= N <= M <= {}",
                              settings.hysteresis.raise, settings.hysteresis.window,
                              Hysteresis::kMaxWindow));
  }
  return {};
}

SubspaceDetector::SubspaceDetector(std::size_t slots, const SubspaceSettings& settings)
    : settings_(settings),
      presence_(slots),
      activity_(slots),
      scale_(slots),
      normalizer_(slots, settings.half_life),
      sketch_(slots, settings.directions, settings.half_life),
      direction_(slots, kColdUnit),
      judge_(slots, judgeSettings()),
      history_(slots, historyRows(settings, slots), kDay),
      alarm_(settings.hysteresis, settings.evidence),
      sample_(slots),
      ready_(slots),
      scaled_(slots),
      normalized_(slots),
      least_(slots),
      least_left_(slots),
      left_(slots),
      recent_scores_(slots),
      better_(slots),
      worse_(slots) {}

DeviationJudge::Settings SubspaceDetector::judgeSettings() const {
  return {settings_.memory, settings_.factor, settings_.pace, settings_.hysteresis,
          settings_.warm_up};
}

const SubspaceVerdict& SubspaceDetector::observe(std::span<const double> sample,
                                                 std::span<const double> least,
                                                 const LoadJumps& known) {
  verdict_.changed = verdict_.judged = false;
  const auto complete = presence_.observe(sample);
  if (complete == SlotPresence::Sample::kChanged) {
    std::vector<std::size_t> from(sample_.size());
    for (std::size_t i = 0; i < from.size(); ++i) from[i] = presence_.changed(i) ? kNewSlot : i;
    rearrangeModels(from, settings_.learned);
  }
  if (complete != SlotPresence::Sample::kComplete) {
    ++skipped_;
    return verdict_;
  }
  for (std::size_t i = 0; i < sample_.size(); ++i) {
    sample_[i] = presence_.leftOut(i) ? 0 : sample[i];
  }
  if (!least.empty()) scale_.applyToDifferences(sample_, least, least_);
  const std::uint32_t part = settings_.warm_up / kWarmUpParts;
  scale_.learn(sample_, part);
  for (std::size_t i = 0; i < ready_.size(); ++i) ready_[i] = scale_.hasLearned(i, part);
  const bool warming_up = warmingUp();
  activity_.observe(sample_, !warming_up, !alarm_.raised());
  if (warming_up) {
    warmUp();
  } else {
    judge(known);
  }
  ++samples_;
  return verdict_;
}

void SubspaceDetector::warmUp() {
  const std::uint64_t part = settings_.warm_up / kWarmUpParts;
  if (samples_ < part) return;
  scale_.apply(sample_, scaled_);
  normalizer_.learn(scaled_, ready_);
  history_.add(scaled_);
  if (samples_ == 2 * part) {
    activity_.settle(static_cast<std::uint32_t>(samples_));
    sketch_.compress();
    updateRank();
    direction_.learn(history_.all());
  }
  explain();
  if (samples_ >= 2 * part) {
    const double load = direction_.load(scaled_);
    judge_.observe(left_, leastOf(normalizer_), load, {}, activity_, true);
    judge_.learn(left_, activity_, false);
  }
  learnSketch();
  if (samples_ + 1 < settings_.warm_up) return;
  activity_.settle(settings_.warm_up);
  judge_.settle();
  verdict_.state = GroupState::kQuiet;
}

void SubspaceDetector::judge(const LoadJumps& known) {
  scale_.apply(sample_, scaled_);
  explain();
  const bool was = alarm_.raised();
  observeModels(known, !was);
  const DeviationJudge& judge = learned_ ? learned_->judge : judge_;
  verdict_.load_jump = judge.loadJump() * (learned_ ? learned_->direction : direction_).unit();
  verdict_.load_score = judge.loadScore();
  ++judged_;
  verdict_.judged = true;
  verdict_.scores = judge.scores();
  const auto largest = std::max_element(verdict_.scores.begin(), verdict_.scores.end());
  verdict_.score = *largest;
  verdict_.statistic = static_cast<Statistic>(largest - verdict_.scores.begin());
  findTop(judge);
  const bool over = verdict_.score > 1;
  const bool anomalous = alarm_.add(verdict_.score);
  verdict_.changed = anomalous != was;
  verdict_.state = anomalous ? GroupState::kAnomalous : GroupState::kQuiet;
  if (anomalous) {
    if (!was) ++anomalies_;
    if (++anomalous_samples_ >= settings_.relearn_after) relearn();
    return;
  }
  anomalous_samples_ = 0;
  // Scores over the limit count too, because they move it no more than others. If all scores grow,
  // the limit follows.
  judge_.learn(left_, activity_, over);
  if (learned_) learned_->judge.learn(learned_->left, activity_, over);
  if (candidate_) candidate_->judge.learn(candidate_->left, activity_, over);
  if (over) return;
  normalizer_.learn(scaled_, ready_);
  learnSketch();
  history_.add(scaled_);
  if (candidate_) compare();
}

// Each model leaves parts in units of its own.
template <typename Model>
std::span<const double> SubspaceDetector::leastOf(const Model& model) {
  for (std::size_t i = 0; i < least_.size(); ++i) {
    const double unit = model.scale(i);
    least_left_[i] = unit > 0 ? least_[i] / unit : 0;
  }
  return least_left_;
}

void SubspaceDetector::observeModels(const LoadJumps& known, bool calm) {
  const auto jumps_for = [&](const MainDirection& direction) {
    return LoadJumps{known.lowest / direction.unit(), known.highest / direction.unit()};
  };
  judge_.observe(left_, leastOf(normalizer_), direction_.load(scaled_), jumps_for(direction_),
                 activity_, calm);
  for (Learned* const one : {learned_.get(), candidate_.get()}) {
    if (one == nullptr) continue;
    one->model->residual(scaled_, one->left);
    one->judge.observe(one->left, leastOf(*one->model), one->direction.load(scaled_),
                       jumps_for(one->direction), activity_, calm);
  }
}

void SubspaceDetector::learnSketch() {
  sketch_.append(normalized_);
  if (sketch_.compressions() != rank_compression_) updateRank();
}

// Each normalised metric has a variance of 1, or 0 if it is constant, so a direction with more
// variance combines several metrics.
void SubspaceDetector::updateRank() {
  rank_compression_ = sketch_.compressions();
  const auto varying = static_cast<double>(std::max<std::size_t>(normalizer_.varying(), 1));
  const double least = settings_.shared * sketch_.compressedEnergy() / varying;
  const std::size_t most = std::min(settings_.max_rank, sketch_.directions());
  rank_ = 0;
  while (rank_ < most && sketch_.energy(rank_) > least) ++rank_;
}

void SubspaceDetector::explain() {
  normalizer_.normalize(scaled_, normalized_);
  for (std::size_t i = 0; i < normalized_.size(); ++i) {
    if (!activity_.active(i) || !ready_[i]) normalized_[i] = 0;
  }
  sketch_.residual(normalized_, rank_, left_);
}

// At a load that is not known all that are off have the score at which the smoothed statistics
// saturate. The one that was the most off before is named first then.
void SubspaceDetector::findTop(const DeviationJudge& judge) {
  std::size_t count = 0;
  auto& top = verdict_.top;
  const auto less = [&](const Contribution& one, const Contribution& other) {
    const double apart = std::abs(one.score) - std::abs(other.score);
    return apart != 0 ? apart < 0 : recent_scores_[one.slot] < recent_scores_[other.slot];
  };
  for (std::size_t i = 0; i < left_.size(); ++i) {
    const Contribution one{static_cast<std::uint32_t>(i), judge.score(i), judge.statistic(i)};
    recent_scores_[i] += kRecent * (std::abs(one.score) - recent_scores_[i]);
    if (one.score == 0) continue;
    if (count == top.size() && !less(top[count - 1], one)) continue;
    std::size_t place = count < top.size() ? count++ : count - 1;
    for (; place > 0 && less(top[place - 1], one); --place) top[place] = top[place - 1];
    top[place] = one;
  }
  verdict_.top_count = count;
}

void SubspaceDetector::rearrange(SlotOrigins from, bool learned) {
  presence_.rearrange(from);
  rearrangeModels(from, learned);
}

void SubspaceDetector::rearrangeModels(SlotOrigins from, bool learned) {
  const bool kept = keepsHistory();
  settings_.learned = learned;
  fit_.reset();
  candidate_.reset();
  activity_.rearrange(from);
  scale_.rearrange(from);
  normalizer_.rearrange(from);
  sketch_.rearrange(from);
  updateRank();
  direction_.rearrange(from);
  judge_.rearrange(from);
  for (auto* values : {&sample_, &scaled_, &normalized_, &least_, &least_left_, &left_,
                       &recent_scores_, &better_, &worse_}) {
    values->assign(from.size(), 0);
  }
  ready_.assign(from.size(), false);
  verdict_.top_count = 0;
  history_.rearrange(from);
  if (kept != keepsHistory()) {
    history_ = SampleHistory(from.size(), historyRows(settings_, from.size()), kDay);
    learned_.reset();
  }
  if (learned_ == nullptr) return;
  next_fit_ = std::min(next_fit_, samples_ + kFirstFit);
  learned_->model->rearrange(from);
  learned_->direction.rearrange(from);
  learned_->judge.rearrange(from);
  learned_->left.assign(from.size(), 0);
}

void SubspaceDetector::relearn() {
  ++relearned_;
  const bool was_anomalous = alarm_.raised();
  activity_.clear();
  scale_.clear();
  normalizer_.clear();
  sketch_.clear();
  judge_.clear();
  history_.clear();
  alarm_.clear();
  learned_.reset();
  candidate_.reset();
  fit_.reset();
  samples_ = 0;
  next_fit_ = kFirstFit;
  rank_ = 0;
  anomalous_samples_ = 0;
  verdict_ = {};
  verdict_.changed = was_anomalous;
}

}  // namespace pingloom::collector::analytics
