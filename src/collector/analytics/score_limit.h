// The limit up to which a score counts as usual: median + factor * (90th percentile - median) of
// the scores so far. It uses quantiles because an incident among the scores moves them little, and
// these two because a few hundred scores determine them well, unlike the 99.9th percentile. Scores
// are multiples of the usual value and lie around 1.
//
// Learned from the first scores, then followed: each score moves a quantile by a fixed small part
// of their distance, whatever its size (Robbins and Monro's stochastic approximation).
// One thread; memory is taken at construction.
#pragma once

#include <cstddef>
#include <vector>

namespace pingloom::collector::analytics {

class ScoreLimit {
 public:
  // Learns from the first `learn_from` scores. `pace` is the maximum movement of a quantile by one
  // score, as a fraction of the distance between the two. REQUIRES: learn_from >= 1.
  ScoreLimit(std::size_t learn_from, double factor, double pace);

  bool learned() const { return learned_; }
  // Adds a usual score. REQUIRES: it is finite.
  void add(double score);
  double limit() const { return median_ + factor_ * apart(); }  // REQUIRES: learned()
  void clear();

 private:
  double apart() const;
  void learn();

  std::size_t learn_from_;
  double factor_;
  double pace_;
  std::vector<double> first_;
  bool learned_ = false;
  double median_ = 0;
  double high_ = 0;  // the 90th percentile
};

}  // namespace pingloom::collector::analytics
