#include "controller/history/codec/steps.h"

#include <array>

namespace pingloom::controller {

const std::vector<std::uint64_t>& middlesOfSteps(unsigned merged) {
  static const auto middles = [] {
    std::array<std::vector<std::uint64_t>, kMaxMerged + 1> all;
    for (unsigned kind = 0; kind <= kMaxMerged; ++kind) {
      for (std::uint32_t step = 0; step < stepsOf(kind); ++step) {
        all[kind].push_back(middleOfStep(step, kind));
      }
    }
    return all;
  }();
  return middles[merged];
}

}  // namespace pingloom::controller
