#include "plan/flow_labels.h"

#include <vector>

namespace pingloom::plan {
namespace {

// The distribution of the number of used paths; each label adds one path or none. The sum by
// inclusion and exclusion is exact only on paper, because its terms alternate and cancel out.
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
  std::vector<double> used_;  // [n] is the probability of n
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
