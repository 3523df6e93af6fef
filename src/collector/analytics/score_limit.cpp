#include "collector/analytics/score_limit.h"

#include <algorithm>

namespace pingloom::collector::analytics {

namespace {

constexpr double kMedian = 0.5;
constexpr double kHigh = 0.9;
// Scores that hardly differ still get a limit above them.
constexpr double kMinShare = 0.01;     // as a share of the median
constexpr double kMinDistance = 0.05;  // if the median is 0 too: as a share of the usual value

}  // namespace

ScoreLimit::ScoreLimit(std::size_t learn_from, double factor, double pace)
    : learn_from_(learn_from), factor_(factor), pace_(pace) {
  first_.reserve(learn_from);
}

double ScoreLimit::apart() const {
  return std::max({high_ - median_, kMinShare * median_, kMinDistance});
}

void ScoreLimit::add(double score) {
  if (!learned_) {
    first_.push_back(score);
    if (first_.size() == learn_from_) learn();
    return;
  }
  const double step = pace_ * apart();
  median_ += step * (score > median_ ? kMedian : kMedian - 1);
  high_ += step * (score > high_ ? kHigh : kHigh - 1);
}

void ScoreLimit::learn() {
  const auto quantile = [this](double share) {
    const auto rank = static_cast<std::ptrdiff_t>(share * static_cast<double>(first_.size() - 1));
    std::nth_element(first_.begin(), first_.begin() + rank, first_.end());
    return first_[static_cast<std::size_t>(rank)];
  };
  median_ = quantile(kMedian);
  high_ = quantile(kHigh);
  learned_ = true;
}

void ScoreLimit::clear() {
  first_.clear();
  learned_ = false;
}

}  // namespace pingloom::collector::analytics
