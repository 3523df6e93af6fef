#include "collector/analytics/peer_group.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace pingloom::collector::analytics {
namespace {

constexpr double kLargest = 1e30;      // larger values are missing, so that floats do not overflow
constexpr double kFarthest = 1e6;      // distances are clamped to it
constexpr double kAboveTail = 1.5;     // limits are so many times the usual highest distance
constexpr double kFirstTail = 4;       // what that begins with
constexpr double kTailPace = 0.02;     // the least step of it in a minute
constexpr double kSpreadRounds = 300;  // over which usual distances are smoothed
constexpr double kLearnRounds = 7200;  // over which a replica's own usual distance is learned
constexpr double kMinSpread = 0.02;    // replicas that agree better than that are equal
constexpr double kNormal = 1.4826;     // a normal distribution's deviation by its MAD
constexpr std::uint32_t kTailBlock = 60;  // rounds
// The score that kTop metrics of a replica reach at once: its least limit, and the limit in
// multiples of what is usual. Metrics of one cause, as a histogram's, vary together.
constexpr double kSeveral = 0.45;
constexpr double kSeveralAboveTail = 2;

double medianOf(std::vector<float>& values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

void follow(double& mean, double value, double rounds, std::uint64_t seen) {
  mean += (value - mean) / std::min(rounds, static_cast<double>(seen) + 1);
}

void insert(PeerVerdict& verdict, const PeerContribution& found) {
  auto* const end = verdict.top.begin() + verdict.top_count;
  auto* const place = std::find_if(verdict.top.begin(), end, [&](const PeerContribution& other) {
    return std::abs(other.score) < std::abs(found.score);
  });
  if (place == verdict.top.end()) return;
  std::move_backward(place, std::min(end, verdict.top.end() - 1),
                     std::min(end + 1, verdict.top.end()));
  *place = found;
  verdict.top_count = std::min(verdict.top_count + 1, PeerVerdict::kTop);
}

}  // namespace

Replica::Replica(std::size_t metrics, const PeerSettings& settings)
    : settings_(settings), metrics_(metrics), moved_(metrics), one_far_(settings.hysteresis) {}

void Replica::set(const PeerSettings& settings) {
  if (settings == settings_) return;
  settings_ = settings;
  one_far_ = Hysteresis(settings.hysteresis);
  several_off_.clear();
}

void Replica::observe(std::span<const double> sample) {
  ++samples_;
  const double step = 1 / std::min(settings_.memory, static_cast<double>(samples_));
  for (std::size_t i = 0; i < metrics_.size(); ++i) {
    if (!(std::abs(sample[i]) <= kLargest)) continue;
    Metric& metric = metrics_[i];
    const auto value = static_cast<float>(sample[i]);
    moved_[i] = value != metric.last;
    metric.last = value;
    metric.smooth += static_cast<float>(step) * (value - metric.smooth);
  }
}

void Replica::leave() {
  const bool was = verdict_.anomalous;
  verdict_ = {};
  verdict_.changed = was;
  one_far_.clear();
  several_off_.clear();
  anomalous_samples_ = 0;
}

void Replica::takeOver(const Replica& other, SlotOrigins from) {
  for (std::size_t i = 0; i < metrics_.size(); ++i) {
    if (from[i] != kNewSlot) metrics_[i].usual = other.metrics_[from[i]].usual;
  }
}

PeerGroup::PeerGroup(std::size_t metrics) : metrics_(metrics) {
  for (Metric& metric : metrics_) metric.tail.usual = kFirstTail;
  several_.usual = kSeveral;
}

void PeerGroup::Tail::note(double second, double most) {
  highest = std::max(highest, std::min(second, most));
}

void PeerGroup::Tail::learn(double minutes) {
  if (highest == 0) return;
  usual += std::max(kTailPace, 1 / (minutes + 4)) * (highest - usual);
  highest = 0;
}

double PeerGroup::limitOf(const Replica& replica, const Metric& metric) {
  return std::max(replica.settings_.limit, kAboveTail * metric.tail.usual);
}

void PeerGroup::judge(std::span<Replica* const> replicas, std::uint32_t relearn_after) {
  judged_.clear();
  for (Replica* replica : replicas) {
    replica->verdict_.changed = false;
    replica->verdict_.judged = false;
    replica->verdict_.score = 0;
    replica->verdict_.top_count = 0;
    const double young = std::max<double>(kYoung, replica->settings_.memory);
    if (replica->samples_ >= young) {
      judged_.push_back(replica);
    } else {
      replica->leave();
    }
  }
  if (judged_.size() < PeerSettings::kMinReplicas) {
    for (Replica* replica : replicas) replica->leave();
    return;
  }
  for (std::size_t number = 0; number < metrics_.size(); ++number) {
    if (compare(number)) score(number);
  }
  conclude(relearn_after);
  ++rounds_;
  learnTails();
}

// Finds the median and the distances from it. Returns whether they say anything. They do not if few
// replicas' values move: differences of a constant are of configuration, and those of a metric that
// seldom moves are of chance.
bool PeerGroup::compare(std::size_t number) {
  std::size_t moved = 0;
  scratch_.clear();
  for (const Replica* replica : judged_) {
    moved += replica->moved_[number] ? 1 : 0;
    scratch_.push_back(replica->metrics_[number].smooth);
  }
  Metric& metric = metrics_[number];
  metric.median = static_cast<float>(medianOf(scratch_));
  for (float& value : scratch_) value = std::abs(value - metric.median);
  follow(metric.away, kNormal * medianOf(scratch_), kSpreadRounds, rounds_);
  if (2 * moved < judged_.size()) {
    if (++metric.still == kForget) metric.rounds = 0;
    return false;
  }
  metric.still = 0;
  setDistances(number);
  ++metric.rounds;
  return metric.present > 0;
}

// Distances are relative to the median, so that a replica with a larger share of the load has the
// same distance at every load. Where the median is about 0 they are relative to the usual distance.
void PeerGroup::setDistances(std::size_t number) {
  Metric& metric = metrics_[number];
  const double unit = std::max(std::abs(static_cast<double>(metric.median)), 3 * metric.away);
  scratch_.clear();
  for (Replica* replica : judged_) {
    Replica::Metric& own = replica->metrics_[number];
    const double distance = unit > 0 ? (own.smooth - metric.median) / unit : 0;
    own.distance = static_cast<float>(std::clamp(distance, -kFarthest, kFarthest));
    scratch_.push_back(std::abs(own.distance - own.usual));
  }
  // All replicas may scatter more from one moment to the next, for example near saturation.
  metric.present = std::max(kNormal * medianOf(scratch_), kMinSpread);
  follow(metric.spread, metric.present, kSpreadRounds, metric.rounds);
  metric.present = std::max(metric.present, metric.spread);
}

void PeerGroup::score(std::size_t number) {
  Metric& metric = metrics_[number];
  double lowest = std::numeric_limits<double>::infinity();  // the limit of the strictest replica
  std::size_t far = 0;
  double first = 0;
  double second = 0;
  for (const Replica* replica : judged_) {
    const Replica::Metric& own = replica->metrics_[number];
    const double off = std::abs(own.distance - own.usual) / metric.present;
    const double limit = limitOf(*replica, metric);
    lowest = std::min(lowest, limit);
    far += off > limit ? 1 : 0;
    second = std::max(second, std::min(first, off));
    first = std::max(first, off);
  }
  metric.tail.note(second, 2 * lowest);
  const bool role = static_cast<double>(far) > kRole * static_cast<double>(judged_.size());
  const bool known = metric.rounds > kLearn;
  for (Replica* replica : judged_) {
    Replica::Metric& own = replica->metrics_[number];
    const double score = (own.distance - own.usual) / metric.present / limitOf(*replica, metric);
    if (role) {
      own.usual = own.distance;
    } else if (known) {
      insert(replica->verdict_, {static_cast<std::uint32_t>(number), score, own.smooth,
                                 static_cast<double>(metric.median)});
    }
  }
}

void PeerGroup::conclude(std::uint32_t relearn_after) {
  const double limit = std::max(kSeveral, kSeveralAboveTail * several_.usual);
  double first = 0;
  double second = 0;
  for (Replica* replica : judged_) {
    if (judged_.size() < replica->settings_.replicas) {
      replica->leave();
      continue;
    }
    PeerVerdict& verdict = replica->verdict_;
    const bool enough = verdict.top_count == PeerVerdict::kTop;
    const double several = enough ? std::abs(verdict.top.back().score) : 0;
    second = std::max(second, std::min(first, several));
    first = std::max(first, several);
    verdict.score = verdict.top_count == 0 ? 0 : std::abs(verdict.top[0].score);
    verdict.score = std::max(verdict.score, several / limit);
    conclude(*replica, several > limit, relearn_after);
  }
  several_.note(second, 2 * limit);
}

void PeerGroup::conclude(Replica& replica, bool several_off, std::uint32_t relearn_after) {
  PeerVerdict& verdict = replica.verdict_;
  verdict.judged = true;
  const bool before = verdict.anomalous;
  const bool one_far = verdict.top_count > 0 && std::abs(verdict.top[0].score) > 1;
  const bool by_one = replica.one_far_.add(one_far);
  const bool by_several = replica.several_off_.add(several_off);
  verdict.anomalous = by_one || by_several;
  replica.anomalous_samples_ = verdict.anomalous ? replica.anomalous_samples_ + 1 : 0;
  const bool new_usual = replica.anomalous_samples_ >= relearn_after;
  if (new_usual) {
    replica.one_far_.clear();
    replica.several_off_.clear();
    replica.anomalous_samples_ = 0;
    verdict.anomalous = false;
  }
  verdict.changed = verdict.anomalous != before;
  if (verdict.anomalous) return;
  const double step = new_usual ? 1 : 1 / kLearnRounds;
  for (Replica::Metric& metric : replica.metrics_) {
    metric.usual += static_cast<float>(step * (metric.distance - metric.usual));
  }
}

void PeerGroup::learnTails() {
  if (++in_block_ < kTailBlock) return;
  in_block_ = 0;
  for (Metric& metric : metrics_) {
    metric.tail.learn(metric.rounds / static_cast<double>(kTailBlock));
  }
  several_.learn(static_cast<double>(rounds_) / kTailBlock);
}

}  // namespace pingloom::collector::analytics
