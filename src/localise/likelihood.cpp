#include "localise/likelihood.h"

#include <algorithm>
#include <cmath>

namespace pingloom::localise {
namespace {

double logBinomial(double sent, double lost, double loss) {
  const double p = std::clamp(loss, 1e-9, 1 - 1e-9);
  return lost * std::log(p) + (sent - lost) * std::log1p(-p);
}

double logChoose(double sent, double lost) {
  int sign = 0;  // std::lgamma() would keep it in a global
  return lgamma_r(sent + 1, &sign) - lgamma_r(lost + 1, &sign) - lgamma_r(sent - lost + 1, &sign);
}

double logSum(double a, double b) {
  const double high = std::max(a, b);
  return high + std::log(std::exp(a - high) + std::exp(b - high));
}

double mixed(double log_ratio, double share) {
  if (share >= 1) return log_ratio;
  return std::log1p(share * std::expm1(std::min(log_ratio, 500.0)));
}

}  // namespace

Guess gridGuess(std::size_t index) {
  if (index < kRates.size()) return {kRates[index], 1};
  const std::size_t partial = index - kRates.size();
  return {kRates[kRates.size() - kPartialRates + partial / kShares.size()],
          kShares[partial % kShares.size()]};
}

double Classes::logLikelihood(const ClassOf& of) const {
  const double detour = of.detour_odds;
  double sum = std::log1p(-settings_.wrong_path - detour) + logBinomial(of.sent, of.lost, of.loss);
  if (detour > 0) sum = logSum(sum, std::log(detour) + logBinomial(of.sent, of.lost, of.detour));
  if (settings_.wrong_path <= 0) return sum;
  return logSum(
      sum, std::log(settings_.wrong_path) - std::log(of.sent + 1.0) - logChoose(of.sent, of.lost));
}

void Classes::clear() {
  classes_.clear();
  now_.clear();
  grids_.clear();
  ids_.clear();
}

ClassId Classes::find(const ClassOf& of) {
  const auto [it, added] = ids_.try_emplace({of.sent, of.lost, of.loss, of.detour, of.detour_odds},
                                            static_cast<ClassId>(classes_.size()));
  if (!added) return it->second;
  classes_.push_back(of);
  now_.push_back(logLikelihood(of));
  auto& grid = grids_.emplace_back();
  for (std::size_t i = 0; i < kRates.size(); ++i) grid[i] = logRatio(it->second, kRates[i]);
  for (std::size_t i = kRates.size(); i < kGrid; ++i) {
    const std::size_t rate = kRates.size() - kPartialRates + (i - kRates.size()) / kShares.size();
    grid[i] = mixed(grid[rate], gridGuess(i).share);
  }
  return it->second;
}

double Classes::logRatio(ClassId id, double rate) const {
  ClassOf hit = classes_[id];
  hit.loss = together(hit.loss, rate);
  return logLikelihood(hit) - now_[id];
}

double Classes::gain(ClassId id, const Guess& guess) const {
  return mixed(logRatio(id, guess.rate), guess.share);
}

}  // namespace pingloom::localise
