// The likelihood of observations, which are put into classes: all members of a class have the same
// counts and the same modelled loss, so each logarithm is computed once for all of them.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <tuple>
#include <vector>

#include "localise/localise.h"

namespace pingloom::localise {

using ClassId = std::uint32_t;

// Loss rates and shares that are tried before the best of them is refined.
constexpr std::array kRates = {0.0005, 0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 0.6, 0.95, 0.9999};
constexpr std::array kShares = {0.5, 0.25, 0.1, 0.04};
constexpr std::size_t kPartialRates = 4;  // the highest rates, which are tried with shares
constexpr std::size_t kGrid = kRates.size() + kPartialRates * kShares.size();

struct Guess {
  double rate = 0;
  double share = 1;
};
Guess gridGuess(std::size_t index);

struct ClassOf {
  std::uint32_t sent = 0;
  std::uint32_t lost = 0;
  double loss = 0;         // modelled for the recorded path
  double detour = 0;       // modelled for a path through a culprit that the flow may have taken
  double detour_odds = 0;  // probability that it has taken that path
};

class Classes {
 public:
  explicit Classes(const Settings& settings) : settings_(settings) {}

  ClassId find(const ClassOf& of);
  const ClassOf& operator[](ClassId id) const { return classes_[id]; }
  std::size_t size() const { return classes_.size(); }
  void clear();

  // log of how much likelier the class becomes if a culprit of this rate hits all its members.
  double logRatio(ClassId id, double rate) const;
  // The same if a share of them is hit, which makes the likelihood a mixture.
  double gain(ClassId id, const Guess& guess) const;
  // gain() at each point of the grid.
  const std::array<double, kGrid>& grid(ClassId id) const { return grids_[id]; }
  // log of the likelihood itself, without the binomial coefficient.
  double logLikelihood(const ClassOf& of) const;

 private:
  Settings settings_;
  std::vector<ClassOf> classes_;
  std::vector<double> now_;  // logLikelihood() of each class
  std::vector<std::array<double, kGrid>> grids_;
  std::map<std::tuple<std::uint32_t, std::uint32_t, double, double, double>, ClassId> ids_;
};

// Loss of a path after a culprit is added.
inline double together(double loss, double rate) { return 1 - (1 - loss) * (1 - rate); }

}  // namespace pingloom::localise
