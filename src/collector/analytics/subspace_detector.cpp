#include "collector/analytics/subspace_detector.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace pingloom::collector::analytics {

namespace {

// The residual of a metric counts as at least this part of its standard deviation. Otherwise
// rounding errors of a metric that the others explain exactly would be anomalies.
constexpr double kMinLeft = 0.1;

// The warm-up has three parts: mean and variance; directions; limits.
constexpr std::uint32_t kWarmUpParts = 3;

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
      slowest_(1 - std::exp2(-1 / settings.half_life)),
      smoothing_(1 - std::exp(-1 / settings.memory)),
      presence_(slots),
      normalizer_(slots, settings.half_life),
      sketch_(slots, settings.directions, settings.half_life),
      residual_limit_(settings.warm_up / kWarmUpParts, settings.factor, settings.pace),
      peak_limit_(settings.warm_up / kWarmUpParts, settings.factor, settings.pace),
      sustained_limit_(settings.warm_up / kWarmUpParts, settings.factor, settings.pace),
      hysteresis_(settings.hysteresis),
      sample_(slots),
      normalized_(slots),
      sustained_(slots),
      left_(slots),
      usually_sustained_(slots),
      usually_left_(slots) {}

const SubspaceVerdict& SubspaceDetector::observe(std::span<const double> sample) {
  verdict_.changed = verdict_.judged = false;
  const auto complete = presence_.observe(sample);
  if (complete == SlotPresence::Sample::kChanged) relearn();
  if (complete != SlotPresence::Sample::kComplete) {
    ++skipped_;
    return verdict_;
  }
  for (std::size_t i = 0; i < sample_.size(); ++i) {
    sample_[i] = presence_.leftOut(i) ? 0 : sample[i];
  }
  if (warmingUp()) {
    warmUp();
  } else {
    judge();
  }
  return verdict_;
}

void SubspaceDetector::warmUp() {
  const std::uint64_t part = settings_.warm_up / kWarmUpParts;
  const std::uint64_t seen = warm_up_samples_++;
  if (seen < part) return normalizer_.learn(sample_);
  if (seen == part + part / 2) {
    // Residuals count from here on, where directions exist that explain the rest. The first
    // deviations are rough and large, because the usual values are hardly known. That makes a young
    // detector tolerant of sustained deviations, of whose slow changes it has seen few.
    sketch_.compress();
    updateRank();
    left_samples_ = 0;
  }
  explain();
  score();
  if (seen >= 2 * part) {
    addScores();
    if (!warmingUp()) verdict_.state = GroupState::kQuiet;
  }
  learn();
}

void SubspaceDetector::judge() {
  explain();
  score();
  ++judged_;
  verdict_.judged = true;
  verdict_.residual_limit = residual_limit_.limit();
  verdict_.peak_limit = peak_limit_.limit();
  verdict_.sustained_limit = sustained_limit_.limit();
  verdict_.score =
      std::max({verdict_.residual / verdict_.residual_limit, verdict_.peak / verdict_.peak_limit,
                verdict_.sustained / verdict_.sustained_limit});
  findTop();
  const bool over = verdict_.score > 1;
  const bool was = hysteresis_.raised();
  const bool anomalous = hysteresis_.add(over);
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
  addScores();
  if (!over) learn();
}

void SubspaceDetector::learn() {
  normalizer_.learn(sample_);
  ++left_samples_;
  const double weight = std::max(slowest_, 1 / static_cast<double>(left_samples_));
  for (std::size_t i = 0; i < left_.size(); ++i) {
    usually_left_[i] += weight * (left_[i] * left_[i] - usually_left_[i]);
    usually_sustained_[i] += weight * (sustained_[i] * sustained_[i] - usually_sustained_[i]);
  }
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

void SubspaceDetector::addScores() {
  residual_limit_.add(verdict_.residual);
  peak_limit_.add(verdict_.peak);
  sustained_limit_.add(verdict_.sustained);
}

void SubspaceDetector::explain() {
  normalizer_.normalize(sample_, normalized_);
  sketch_.residual(normalized_, rank_, left_);
}

double SubspaceDetector::deviation(std::size_t slot) const {
  return left_[slot] / std::max(std::sqrt(usually_left_[slot]), kMinLeft);
}

double SubspaceDetector::sustained(std::size_t slot) const {
  return sustained_[slot] / std::max(std::sqrt(usually_sustained_[slot]), kMinLeft);
}

void SubspaceDetector::score() {
  double sum = 0;
  verdict_.peak = verdict_.sustained = 0;
  for (std::size_t i = 0; i < left_.size(); ++i) {
    const double now = deviation(i);
    sum += now * now;
    sustained_[i] += smoothing_ * (now - sustained_[i]);
    verdict_.peak = std::max(verdict_.peak, std::abs(now));
    verdict_.sustained = std::max(verdict_.sustained, std::abs(sustained(i)));
  }
  const auto present = static_cast<double>(std::max<std::size_t>(presence_.present(), 1));
  verdict_.residual = std::sqrt(sum / present);
}

void SubspaceDetector::findTop() {
  std::size_t count = 0;
  auto& top = verdict_.top;
  for (std::size_t i = 0; i < left_.size(); ++i) {
    const double peak = deviation(i) / verdict_.peak_limit;
    const double lasting = sustained(i) / verdict_.sustained_limit;
    const double score = std::abs(lasting) > std::abs(peak) ? lasting : peak;
    if (score == 0) continue;
    if (count == top.size() && std::abs(score) <= std::abs(top[count - 1].score)) continue;
    std::size_t place = count < top.size() ? count++ : count - 1;
    for (; place > 0 && std::abs(top[place - 1].score) < std::abs(score); --place) {
      top[place] = top[place - 1];
    }
    top[place] = {static_cast<std::uint32_t>(i), score};
  }
  verdict_.top_count = count;
}

void SubspaceDetector::relearn() {
  ++relearned_;
  const bool was_anomalous = hysteresis_.raised();
  normalizer_.clear();
  sketch_.clear();
  residual_limit_.clear();
  peak_limit_.clear();
  sustained_limit_.clear();
  std::fill(sustained_.begin(), sustained_.end(), 0);
  std::fill(usually_sustained_.begin(), usually_sustained_.end(), 0);
  hysteresis_.clear();
  std::fill(usually_left_.begin(), usually_left_.end(), 0);
  left_samples_ = warm_up_samples_ = 0;
  rank_ = 0;
  anomalous_samples_ = 0;
  verdict_ = {};
  verdict_.changed = was_anomalous;
}

}  // namespace pingloom::collector::analytics
