#include "plan/path_coverage.h"

#include <vector>

namespace pingloom::plan {
namespace {

// The number of paths that have been used, as a distribution: after each label either one more, or
// as many as before. The sum by inclusion and exclusion would be as exact on paper only: its terms
// alternate and cancel out.
class Collector {
 public:
  explicit Collector(std::uint32_t paths) : used_(paths + 1, 0.0) { used_[0] = 1; }

  void addLabel() {
    const auto paths = static_cast<double>(used_.size() - 1);
    for (std::size_t n = used_.size() - 1; n > 0; --n) {
      const auto used = static_cast<double>(n);
      used_[n] = used_[n] * used / paths + used_[n - 1] * (paths - used + 1) / paths;
    }
    used_[0] = 0;
  }
  double all() const { return used_.back(); }

 private:
  std::vector<double> used_;  // [n]: the probability of n
};

}  // namespace

double coverage(std::uint32_t labels, std::uint32_t paths) {
  Collector collector(paths);
  for (std::uint32_t i = 0; i < labels; ++i) collector.addLabel();
  return collector.all();
}

std::uint32_t labelsToCover(std::uint32_t paths) {
  Collector collector(paths);
  std::uint32_t labels = 0;
  while (collector.all() < kCoverage) {
    collector.addLabel();
    ++labels;
  }
  return labels;
}

std::uint32_t pathsCovered(std::uint32_t labels) {
  std::uint32_t paths = 1;
  while (coverage(labels, paths + 1) >= kCoverage) ++paths;
  return paths;
}

}  // namespace pingloom::plan
