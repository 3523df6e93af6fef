// How large a score may be and still be usual: median + factor * (90th percentile - median) of the
// scores seen. Quantiles, because an incident among the scores moves them little; these two,
// because a few hundred scores tell them well, which is not so of the 99.9th percentile. Scores are
// multiples of what is usual, around 1.
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
  // Learned from so many scores. pace: the most that a limit's quantile moves by one score, in
  // distances between the two. REQUIRES: learn_from >= 1.
  ScoreLimit(std::size_t learn_from, double factor, double pace);

  bool learned() const { return learned_; }
  // A usual score. REQUIRES: finite.
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
