#include "collector/analytics/season.h"

#include <algorithm>
#include <cmath>

namespace pingloom::collector::analytics {
namespace {

constexpr HysteresisSettings kHysteresis{.raise = 3, .window = 5};
constexpr std::uint32_t kLeastMinutes = 20;  // of a half hour that is learned
constexpr std::uint32_t kDayMinutes = 1440;
constexpr std::uint32_t kWeekMinutes = 7 * kDayMinutes;
// How fast an exception is followed.
constexpr double kFollow = 1.0 / 60;
// Traffic that is lower than usual by less than this is as usual again.
constexpr double kAsUsual = 0.1;
constexpr double kMaxShift = 10;
// A level, and its distance from an expected one, is far below this.
constexpr double kMaxDistance = 100;
constexpr std::int64_t kLatestMinute = kLatestUtc / kMinute;

}  // namespace

Season::Season(const std::vector<bool>& rates, std::uint32_t relearn_after)
    : relearn_after_(relearn_after), traffic_(rates), hysteresis_(kHysteresis) {}

const SeasonVerdict& Season::observe(const Instant& at, std::span<const double> sample) {
  verdict_.changed = false;
  if (!traffic_.any() || at.utc < kMinute || at.utc > kLatestUtc) return verdict_;
  const std::int64_t minute = at.utc / kMinute;
  const bool first = last_.utc == 0;
  const Nanos stepped = (at.utc - last_.utc) - (at.mono - last_.mono);
  // After a restart only a clock that has gone back is seen to be set.
  if (first ? minute < minute_ : std::abs(stepped) > kStep) clockWasSet();
  last_ = at;
  if (minute_ != 0 && minute != minute_) advance(minute);
  minute_ = minute;
  traffic_.add(sample);
  // The sample that has raised an anomaly is not counted, so that each lasts for at least one.
  if (verdict_.anomalous && !verdict_.changed && ++anomalous_samples_ >= relearn_after_) {
    acceptException();
  }
  return verdict_;
}

void Season::clockWasSet() {
  doubtful_ = kDayMinutes;
  traffic_.forget();
  jumps_.restart();
  half_hour_ = {};
  pending_count_ = 0;
  minute_ = 0;
  verdict_.judged = false;
  setAnomalous(false);
}

// Ends the minute that has passed. Some may have had no sample.
void Season::advance(std::int64_t minute) {
  const std::int64_t passed = minute - minute_;
  if (passed < 0 || passed > static_cast<std::int64_t>(TrafficLevel::kMinutes)) {
    traffic_.forget();
    return;
  }
  for (std::int64_t ended = minute_; ended < minute; ++ended) endMinute(ended);
}

void Season::endMinute(std::int64_t minute) {
  const auto level = traffic_.endMinute();
  usual_ = table_.usual(minute);
  verdict_.judged = false;
  if (doubtful_ > 0) --doubtful_;
  if (!level || doubtful_ > 0) return;
  level_ = *level;
  if (exception_) followException(*level);
  judge(*level);
  if (!hysteresis_.raised() && verdict_.score <= 1) traffic_.learn();
  add(minute, *level);
}

void Season::followException(double level) {
  if (++exception_minutes_ >= kWeekMinutes) {
    // It is the usual now, and nothing that was known holds.
    table_.clear();
    usual_.reset();
    half_hour_ = {};
    exception_ = false;
  }
  if (!usual_) return;
  shift_ += kFollow * (std::clamp(level - usual_->mean, -kMaxShift, 0.0) - shift_);
  if (shift_ > -kAsUsual) exception_ = false;
}

void Season::judge(double level) {
  verdict_.score = 0;
  if (usual_) {
    const double shift = exception_ ? shift_ : 0;
    verdict_.score = std::max(0.0, (usual_->mean + shift - level) / usual_->distance);
    verdict_.judged = true;
  }
  setAnomalous(hysteresis_.add(verdict_.score > 1));
  if (verdict_.anomalous) findTop();
}

void Season::setAnomalous(bool anomalous) {
  if (!anomalous) {
    pending_count_ = 0;
    anomalous_samples_ = 0;
    verdict_.top_count = 0;
  }
  verdict_.changed = verdict_.changed || anomalous != verdict_.anomalous;
  verdict_.anomalous = anomalous;
  if (!anomalous && verdict_.changed) hysteresis_.clear();
}

void Season::acceptException() {
  for (const HalfHour& one : std::span(pending_).first(pending_count_)) {
    table_.learn(one.number, one.mean(), one.fall(), true);
  }
  half_hour_.anomalous = false;
  exception_ = true;
  exception_minutes_ = 0;
  shift_ = usual_ ? std::clamp(level_ - usual_->mean, -kMaxShift, 0.0) : 0;
  setAnomalous(false);
}

void Season::findTop() {
  verdict_.top_count = 0;
  if (!usual_) return;
  auto& top = verdict_.top;
  std::size_t& count = verdict_.top_count;
  const float least = traffic_.leastApart();
  for (std::uint32_t slot = 0; slot < traffic_.slots(); ++slot) {
    const auto level = traffic_.follows(slot, least);
    if (!level) continue;
    const double score = (*level - usual_->mean) / usual_->distance;
    if (score >= 0 || (count == top.size() && score >= top[count - 1].score)) continue;
    std::size_t place = count < top.size() ? count++ : count - 1;
    for (; place > 0 && score < top[place - 1].score; --place) top[place] = top[place - 1];
    top[place] = {slot, score, traffic_.rate(slot), traffic_.rateAt(slot, usual_->mean)};
  }
}

void Season::add(std::int64_t minute, double level) {
  const std::int64_t number = minute / SeasonTable::kHalfHour;
  const double apart = level - table_.expected(minute);
  // A clock that is set back a little again and again must not make a half hour longer for ever.
  if (number == half_hour_.number && half_hour_.minutes == kDayMinutes) return;
  if (number != half_hour_.number) {
    endHalfHour();
    half_hour_ = {};
    half_hour_.number = number;
    half_hour_.lowest = apart;
  }
  half_hour_.sum += level;
  half_hour_.apart += apart;
  half_hour_.lowest = std::min(half_hour_.lowest, apart);
  half_hour_.anomalous = half_hour_.anomalous || verdict_.anomalous;
  ++half_hour_.minutes;
}

void Season::endHalfHour() {
  if (half_hour_.minutes < kLeastMinutes) return;
  if (!half_hour_.anomalous && !verdict_.anomalous) {
    table_.learn(half_hour_.number, half_hour_.mean(), half_hour_.fall(), exception_);
    return;
  }
  if (!verdict_.anomalous) return;
  if (pending_count_ == kPending) {
    std::move(pending_.begin() + 1, pending_.end(), pending_.begin());
    --pending_count_;
  }
  pending_[pending_count_++] = half_hour_;
}

LoadJumps Season::jumps() const { return doubtful_ > 0 ? LoadJumps{} : jumps_.at(minute_); }

void Season::learnJump(double jump, double score) {
  if (doubtful_ == 0 && minute_ != 0) jumps_.observe(minute_, jump, score);
}

void Season::takeOver(const Season& other, SlotOrigins from) {
  TrafficLevel traffic = std::move(traffic_);
  const std::uint32_t relearn_after = relearn_after_;
  const bool kept = traffic.takeOver(other.traffic_, from);
  *this = other;
  traffic_ = std::move(traffic);
  relearn_after_ = relearn_after;
  verdict_.changed = false;
  verdict_.top_count = 0;
  if (kept) return;
  // Levels of other rates have nothing to do with those that are known.
  table_.clear();
  setAnomalous(false);
  verdict_ = {};
  half_hour_ = {};
  exception_ = false;
}

void Season::HalfHour::state(StateArchive& archive) {
  archive(number, sum, apart, lowest, minutes, anomalous);
  const double most = kMaxDistance * minutes;
  archive.require(number >= 0 && number <= kLatestMinute / SeasonTable::kHalfHour &&
                  minutes <= kDayMinutes && std::abs(sum) <= most && std::abs(apart) <= most &&
                  std::abs(lowest) <= kMaxDistance);
}

void Season::state(StateArchive& archive) {
  archive(traffic_, table_, jumps_, hysteresis_, half_hour_, pending_, pending_count_, level_,
          exception_, shift_, anomalous_samples_, exception_minutes_, doubtful_, minute_);
  archive.require(pending_count_ <= kPending && doubtful_ <= kDayMinutes && minute_ >= 0 &&
                  minute_ <= kLatestMinute && std::abs(shift_) <= kMaxShift);
  const auto pending = std::span(pending_).first(std::min<std::size_t>(pending_count_, kPending));
  archive.require(std::all_of(pending.begin(), pending.end(),
                              [](const HalfHour& one) { return one.minutes >= kLeastMinutes; }));
  if (!archive.reads()) return;
  last_ = {};
  usual_.reset();
  verdict_ = {};
  verdict_.anomalous = hysteresis_.raised();
}

}  // namespace pingloom::collector::analytics
