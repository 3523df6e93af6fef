#include "collector/analytics/score_limit.h"

#include <algorithm>
#include <cmath>
#include <functional>

namespace pingloom::collector::analytics {

namespace {

constexpr double kMedian = 0.5;
constexpr double kHigh = 0.9;
// What the quantiles begin with. A score is a multiple of its metric's own usual highest value.
constexpr double kFirstMedian = 0.9;
constexpr double kFirstHigh = 1.2;
// Blocks that hardly differ still get a limit above them.
constexpr double kMinShare = 0.1;
constexpr double kFirstStep = 2;  // of the distance between the quantiles
// A young limit is higher, because little is known: by this share after the first block.
constexpr double kYoung = 2.1;

}  // namespace

ScoreLimit::ScoreLimit(double factor, double pace, HysteresisSettings hysteresis)
    : factor_(factor), pace_(pace), hysteresis_(hysteresis) {
  clear();
}

double ScoreLimit::limit() const {
  return (median_ + factor_ * apart()) * (1 + kYoung / std::sqrt(1.0 + blocks_));
}

double ScoreLimit::apart() const { return std::max(high_ - median_, kMinShare * median_); }

void ScoreLimit::add(double score, bool usual) {
  last_[scores_++ % hysteresis_.window] = static_cast<float>(score);
  if (!usual || scores_ < hysteresis_.window) return;
  highest_ = std::max(highest_, level());
  if (++in_block_ < kBlock) return;
  learn(highest_);
  in_block_ = 0;
  highest_ = 0;
}

double ScoreLimit::level() const {
  auto sorted = last_;
  const auto nth = sorted.begin() + (hysteresis_.raise - 1);
  std::nth_element(sorted.begin(), nth, sorted.begin() + hysteresis_.window, std::greater<>());
  return *nth;
}

void ScoreLimit::learn(double highest) {
  ++blocks_;
  const double step = std::max(pace_, kFirstStep / (4.0 + blocks_)) * apart();
  median_ += step * (highest > median_ ? kMedian : kMedian - 1);
  high_ += step * (highest > high_ ? kHigh : kHigh - 1);
}

void ScoreLimit::state(StateArchive& archive) {
  archive(last_, scores_, in_block_, blocks_, highest_, median_, high_);
  archive.require(in_block_ < kBlock);
}

void ScoreLimit::clear() {
  median_ = kFirstMedian;
  high_ = kFirstHigh;
  scores_ = 0;
  in_block_ = blocks_ = 0;
  highest_ = 0;
}

}  // namespace pingloom::collector::analytics
