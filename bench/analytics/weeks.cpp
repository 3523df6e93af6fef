#include "weeks.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numbers>

namespace pingloom::bench {
namespace {

constexpr double kWeekend = 0.5;  // of a weekday's load
constexpr double kDayDiffers = 0.05;
constexpr double kJob = 0.25;  // load that the nightly job adds
constexpr double kHalf = 0.5;
constexpr double kQuick = 0.05;  // how far the traffic wanders within seconds
constexpr double kSlow = 1.0 / 600;
constexpr std::size_t kBetween = 18 * 3600;  // a drop, and the time to the next one
constexpr std::size_t kBetweenMore = 24 * 3600;

}  // namespace

std::vector<bool> ratesOfService() {
  std::vector<bool> rates;
  rates.reserve(std::size(kForms));
  for (const Form form : kForms) {
    rates.push_back(form == Form::kTraffic || form == Form::kCpu || form == Form::kRare ||
                    form == Form::kJoins);
  }
  return rates;
}

Weeks::Weeks(const WeeksShape& shape, std::uint64_t seed)
    : shape_(shape), random_(seed), phase_(random_.uniform()), second_(random_.uniform()) {
  for (std::size_t i = 0; i < shape.days; ++i) {
    days_.push_back(std::exp(kDayDiffers * random_.normal()));
  }
  for (const Form form : kForms) metrics_.emplace_back(form, random_);
  std::size_t begin = shape.quiet * kDayLong;
  for (;;) {
    begin += kBetween / 2 + random_.below(kBetweenMore);
    const std::size_t end = begin + 2 * Drop::kFalls + Drop::kStays;
    if (end + 3600 >= shape.days * kDayLong) return;
    drops_.push_back({begin, end});
    begin = end + kBetween / 2;
  }
}

double Weeks::dropped() const {
  if (drop_ == drops_.size() || now_ < drops_[drop_].begin) return 1;
  const auto since = static_cast<double>(now_ - drops_[drop_].begin);
  const auto left = static_cast<double>(drops_[drop_].end - now_);
  const double fallen = std::min({since / Drop::kFalls, left / Drop::kFalls, 1.0});
  return 1 - (1 - kHalf) * fallen;
}

double Weeks::courseOfDay() const {
  constexpr double kTurn = 2 * std::numbers::pi;
  const double day = static_cast<double>(now_ % kDayLong) / kDayLong;
  return 0.45 + 0.22 * std::sin(kTurn * (day + phase_)) +
         0.06 * std::sin(kTurn * (2 * day + second_));
}

double Weeks::load() {
  const double wander = shape_.wander * slow_.next(random_) + kQuick * quick_.next(random_);
  double load = courseOfDay() * std::exp(wander);
  const std::size_t day = now_ / kDayLong;
  load *= days_[day];
  if (weekend(now_) || day == shape_.holiday) load *= kWeekend;
  const std::size_t time = now_ % kDayLong;
  if (time >= kJobBegins && time < kJobBegins + kJobTakes) load += kJob;
  return std::clamp(load * dropped(), 0.01, 0.93);
}

const std::array<double, kMetrics>& Weeks::next() {
  while (drop_ < drops_.size() && now_ >= drops_[drop_].end) ++drop_;
  const double load = this->load();
  lagged_ += kSlow * (load - lagged_);
  for (std::size_t i = 0; i < kMetrics; ++i) {
    const Usual usual = metrics_[i].usual(load, lagged_, now_, random_);
    double value = usual.value + usual.scatter * random_.normal();
    if (kForms[i] == Form::kQueue) value = std::round(value);
    if (kForms[i] != Form::kRatio) value = std::max(value, 0.0);
    sample_[i] = metrics_[i].unit() * value;
  }
  ++now_;
  return sample_;
}

}  // namespace pingloom::bench
