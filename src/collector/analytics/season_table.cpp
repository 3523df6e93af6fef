#include "collector/analytics/season_table.h"

#include <algorithm>
#include <cmath>

namespace pingloom::collector::analytics {
namespace {

constexpr unsigned kDayMemory = 7;
constexpr unsigned kWeekMemory = 4;
constexpr double kThird = 0.4054651081081644;  // log(1.5): traffic that is lower by a third
// A half hour knows its own distances from few days, so those of all count as so many more.
constexpr double kCommonDays = 3;
// Times at which a group is idle, or has a job, say little about the others.
constexpr double kMaxCommon = 0.5;
constexpr double kOutlier = 2;  // in multiples of the usual
constexpr int kNearby = 6;      // half hours
constexpr float kMaxLevel = 20;

std::size_t placeOf(std::int64_t half_hour, std::int64_t bins) {
  const std::int64_t place = half_hour % bins;
  return static_cast<std::size_t>(place < 0 ? place + bins : place);
}

// How far a half hour was from what a bin has.
double apart(double mean, double fall, double usual) {
  return std::max(std::abs(mean - usual), fall - (mean - usual));
}

}  // namespace

SeasonTable::Usual SeasonTable::usualOf(const Bin& bin) const {
  const double others = bin.days > 0 ? bin.days - 1.0 : 0;
  const double square = (others * bin.square + kCommonDays * square_) / (others + kCommonDays);
  // The mean of a few days may be wrong itself.
  const double wrong = 1 / std::max<double>(bin.days, 1);
  return {bin.mean, std::max(kFar * std::sqrt(square * (1 + wrong)), kThird)};
}

std::optional<SeasonTable::Usual> SeasonTable::usualOf(std::int64_t half_hour,
                                                       unsigned days) const {
  const Bin& day = days_[placeOf(half_hour, kBinsOfDay)];
  const Bin& week = weeks_[placeOf(half_hour, kBinsOfWeek)];
  if (day.days < days) return std::nullopt;
  if (week.days >= kKnownWeeks) return usualOf(week);
  Usual daily = usualOf(day);
  if (week.days == 0) {
    daily.mean += shiftOfDay(half_hour);
    return daily;
  }
  const Usual weekly = usualOf(week);
  return weekly.mean - weekly.distance < daily.mean - daily.distance ? weekly : daily;
}

double SeasonTable::shiftOfDay(std::int64_t half_hour) const {
  const auto shift = [&](int step) -> std::optional<double> {
    for (int i = 1; i <= kNearby; ++i) {
      const Bin& week = weeks_[placeOf(half_hour + i * step, kBinsOfWeek)];
      const Bin& day = days_[placeOf(half_hour + i * step, kBinsOfDay)];
      if (week.days > 0 && day.days > 0) return week.mean - day.mean;
    }
    return std::nullopt;
  };
  const auto before = shift(-1), after = shift(1);
  return before && after ? (*before + *after) / 2 : 0;
}

std::optional<SeasonTable::Usual> SeasonTable::usual(std::int64_t minute, unsigned days) const {
  const std::int64_t half_hour = minute / kHalfHour;
  auto found = usualOf(half_hour, days);
  const double place = (static_cast<double>(minute % kHalfHour) + 0.5) / kHalfHour - 0.5;
  const auto next = usualOf(place < 0 ? half_hour - 1 : half_hour + 1, days);
  if (!found || !next) return found;
  found->mean += std::abs(place) * (next->mean - found->mean);
  found->distance = std::max(found->distance, next->distance);
  return found;
}

double SeasonTable::expected(std::int64_t minute) const {
  const auto found = usual(minute, 1);
  return found ? found->mean : 0;
}

void SeasonTable::learn(Bin& bin, std::int64_t half_hour, double mean, double fall,
                        unsigned memory) {
  const auto day = static_cast<std::uint16_t>(half_hour / kBinsOfDay);
  // A clock that was set back shows a time twice.
  if (bin.days > 0 && bin.last == day) return;
  bin.last = day;
  if (bin.days == 0) {
    bin = {static_cast<float>(mean), 0, 1, day};
    return;
  }
  double far = apart(mean, fall, bin.mean);
  // One holiday must not hide what comes after it.
  if (bin.days >= kKnownWeeks) far = std::min(far, usualOf(bin).distance);
  bin.square += static_cast<float>((far * far - bin.square) / bin.days);
  bin.days = static_cast<std::uint16_t>(std::min<unsigned>(bin.days + 1U, memory));
  bin.mean += static_cast<float>((mean - bin.mean) / bin.days);
}

void SeasonTable::learn(std::int64_t half_hour, double mean, double fall, bool exceptional) {
  learn(weeks_[placeOf(half_hour, kBinsOfWeek)], half_hour, mean, fall, kWeekMemory);
  Bin& day = days_[placeOf(half_hour, kBinsOfDay)];
  // Low weekends that are known as such are no usual days either.
  const Usual usual = usualOf(day);
  const bool low = day.days >= kKnownDays && usual.mean - mean > usual.distance;
  if (exceptional || low) return;
  if (day.days > 0) {
    const double most = bins_ < kBinsOfDay ? kMaxCommon : kOutlier * std::sqrt(square_);
    const double far = std::min(apart(mean, fall, day.mean), most);
    bins_ = std::min<std::uint32_t>(bins_ + 1, kBinsOfWeek);
    square_ += static_cast<float>((far * far - square_) / bins_);
  }
  learn(day, half_hour, mean, fall, kDayMemory);
}

// Bins that are not known take a byte, because most groups do not live for long.
void SeasonTable::Bin::state(StateArchive& archive) {
  bool known = days > 0;
  archive(known);
  if (archive.reads()) *this = {};
  if (!known) return;
  archive(mean, square, days, last);
  archive.require(std::abs(mean) <= kMaxLevel && square >= 0 && square <= kMaxLevel * kMaxLevel &&
                  days >= 1 && days <= kDayMemory);
}

void SeasonTable::state(StateArchive& archive) {
  archive(days_, weeks_, square_, bins_);
  archive.require(square_ >= 0 && square_ <= kMaxLevel * kMaxLevel && bins_ <= kBinsOfWeek);
}

}  // namespace pingloom::collector::analytics
