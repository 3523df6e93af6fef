// Computes the values with which the pairs of a probe are compared. For each figure this is the
// mesh's median: the median over all sources of each source's own median, so that one bad host
// hardly moves it. A distance class consists of the pairs whose ends share the same number of
// topology labels. For network time and round trip, a pair is compared with the usual value of its
// class if that is larger than the mesh's median, because a pair across pods is slower than a pair
// within a rack without being at fault. The usual value follows the median of the class slowly.
// The control thread owns the baseline. Memory: a few numbers for each source and class, none for a
// pair.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "controller/model/board.h"

namespace pingloom::controller {

// The labels that say where a host is, from the nearest to the farthest.
constexpr std::array<std::string_view, 6> kTopologyLabels = {"rack", "tor",  "leaf",
                                                             "pod",  "zone", "site"};
constexpr std::size_t kMaxClasses = kTopologyLabels.size() + 1;

// Knows the distance class of each pair of a probe: the number of topology labels that both ends
// have with the same value.
class DistanceClasses {
 public:
  DistanceClasses() = default;
  DistanceClasses(const GridPlan& plan, const ProbeGrid& probe);
  std::size_t of(std::size_t source, std::size_t destination) const {
    std::size_t same = 0;
    for (std::size_t i = 0; i < labels_; ++i) {
      const std::uint32_t value = sources_[source * labels_ + i];
      same += value != 0 && value == destinations_[destination * labels_ + i] ? 1 : 0;
    }
    return same;
  }

 private:
  std::size_t labels_ = 0;
  std::vector<std::uint32_t> sources_;  // the numbers of label values; 0: none
  std::vector<std::uint32_t> destinations_;
};

class ProbeBaseline {
 public:
  using Classes = std::array<Baseline, kMaxClasses>;
  // After this time, the difference of the logarithms of the usual value and the median is 1/e of
  // what it was.
  static constexpr Nanos kDrift = kHour;

  void resize(std::size_t sources) { medians_.assign(sources, {}); }
  // Takes the medians of a source's rows. `rows` is nullptr if the source does not report any more.
  void take(std::uint32_t source, const Rows* rows, const DistanceClasses& classes);
  // Returns the baseline of each class, which is recomputed at most once in kRefresh.
  const Classes& at(Nanos now_mono);

 private:
  static constexpr Nanos kRefresh = 200 * kMillisecond;
  struct Medians {
    Baseline all{};
    Classes by_class{};
  };
  void refresh(Nanos now_mono);
  std::uint64_t medianOf(const Baseline& (*pick)(const Medians& of, std::size_t at), std::size_t at,
                         std::size_t figure);

  std::vector<Medians> medians_;  // by source; a share is one millionth more, because 0 is none
  Classes current_{};
  std::array<std::array<double, kFigureNames.size()>, kMaxClasses> usual_{};
  std::vector<std::pair<RowFigures, std::uint32_t>> figures_;  // of a sample, with destinations
  std::vector<std::uint64_t> values_;
  Nanos refreshed_mono_ = 0;
  bool dirty_ = true;
};

}  // namespace pingloom::controller
