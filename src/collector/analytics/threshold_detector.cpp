#include "collector/analytics/threshold_detector.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace pingloom::collector::analytics {

Status ThresholdDetector::check(std::span<const ThresholdRule> rules, std::size_t slots) {
  for (const ThresholdRule& rule : rules) {
    const std::string who = fmt::format("threshold on '{}'", rule.metric);
    if (rule.slot >= slots) {
      return makeError(who, fmt::format("slot {} of a group with {}", rule.slot, slots));
    }
    if (!std::isfinite(rule.limit)) return makeError(who, "the limit is not a finite number");
    if (!Hysteresis::valid(rule.hysteresis)) {
      return makeError(
          who, fmt::format("{} of {} samples: must be 1 <= N <= M <= {}", rule.hysteresis.raise,
                           rule.hysteresis.window, Hysteresis::kMaxWindow));
    }
  }
  return {};
}

ThresholdDetector::ThresholdDetector(std::vector<ThresholdRule> rules) : rules_(std::move(rules)) {
  states_.reserve(rules_.size());
  verdicts_.reserve(rules_.size());
  for (const ThresholdRule& rule : rules_) {
    states_.emplace_back(rule.hysteresis);
    verdicts_.push_back({.rule = &rule});
  }
}

std::span<const ThresholdVerdict> ThresholdDetector::observe(std::span<const double> values,
                                                             std::span<const double> rates) {
  for (std::size_t i = 0; i < rules_.size(); ++i) {
    const ThresholdRule& rule = rules_[i];
    ThresholdVerdict& verdict = verdicts_[i];
    verdict.changed = false;
    const double value = (rule.of == ThresholdRule::Of::kRate ? rates : values)[rule.slot];
    if (!std::isfinite(value)) continue;
    const bool over =
        rule.side == ThresholdRule::Side::kAbove ? value > rule.limit : value < rule.limit;
    verdict.value = value;
    verdict.changed = states_[i].add(over) != verdict.anomalous;
    verdict.anomalous = states_[i].raised();
  }
  return verdicts_;
}

bool ThresholdDetector::anomalous() const {
  return std::any_of(states_.begin(), states_.end(), [](auto& state) { return state.raised(); });
}

}  // namespace pingloom::collector::analytics
