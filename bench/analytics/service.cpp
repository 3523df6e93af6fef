#include "service.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace pingloom::bench {

namespace {

constexpr double kDay = 86400;
constexpr std::size_t kCronEvery = 300;
constexpr std::size_t kCronTakes = 6;

}  // namespace

double Load::next(std::size_t now, Random& random) {
  const double turn = 2 * std::numbers::pi * static_cast<double>(now) / kDay;
  const double season = 0.45 + 0.22 * std::sin(turn + 2 * std::numbers::pi * phase_) +
                        0.06 * std::sin(2 * turn + 2 * std::numbers::pi * second_);
  const double walks =
      0.07 * slow_.next(random) + 0.04 * middle_.next(random) + 0.02 * quick_.next(random);
  return std::clamp(season + walks, 0.03, 0.93);
}

ServiceMetric::ServiceMetric(Form form, Random& random)
    : form_(form),
      unit_(std::pow(10, random.between(-3, 6))),
      steepness_(random.between(0.5, 2)),
      scatter_(random.between(0.5, 1.5)),
      own_(form == Form::kMemory ? 3600 : 30) {}

Usual ServiceMetric::usual(double load, double lagged, std::size_t now, Random& random) {
  const double own = own_.next(random);
  switch (form_) {
    case Form::kTraffic:
      return {load, scatter_ * (0.005 + 0.04 * load)};
    case Form::kCpu:
      return {0.05 + 0.8 * std::pow(load, 0.8 + 0.3 * steepness_), scatter_ * (0.01 + 0.03 * load)};
    case Form::kLatency:
    case Form::kReplica: {
      const double value = 1 + steepness_ * load / (1 - load);
      return {value, scatter_ * value * (0.03 + 0.12 * load)};
    }
    case Form::kQueue: {
      const double value = 5 * steepness_ * load * load / (1 - load);
      return {value, scatter_ * std::sqrt(0.2 + value)};
    }
    case Form::kMemory:
      return {10 + 2 * lagged + 0.3 * own, 0.05 * scatter_};
    case Form::kRatio:
      return {0.98 - 0.1 * steepness_ * load * load, scatter_ * (0.003 + 0.01 * load)};
    case Form::kLagged:
      return {30 + 30 * lagged, scatter_ * 0.5};
    case Form::kCron:
      return {0.3 * load + (now % kCronEvery < kCronTakes ? steepness_ : 0), scatter_ * 0.03};
    case Form::kAlone:
      return {10 + own, 0.5 * scatter_};
    case Form::kBursts:
      return {5 + (random.uniform() < 0.01 ? random.between(1, 6) : 0), scatter_};
    case Form::kRare:
      return {load > 0.75 && random.uniform() < 4 * (load - 0.75) ? 1.0 : 0.0, 0};
    case Form::kJoins:
      return {random.below(7200) == 0 ? 1.0 : 0.0, 0};
  }
  return {};
}

}  // namespace pingloom::bench
