// The cells that row messages carry, made once for all viewers that watch the same. The HTTP
// thread.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "controller/http/metric.h"
#include "controller/model/board.h"

namespace pingloom::controller {

class LiveRows {
 public:
  // What is kept of one probe and metric is at most half of this; beyond it all is made anew.
  static constexpr std::size_t kMaxBytes = 64UL * 1024 * 1024;

  // Of one source of one probe; `snapshot` may be nullptr. Valid until the next call.
  const std::string& cells(const GridPlan& plan, const Metric& metric, std::uint32_t probe,
                           std::uint32_t source,
                           const std::shared_ptr<const SourceSnapshot>& snapshot);
  void clear();  // another plan

 private:
  struct Cells {
    std::weak_ptr<const SourceSnapshot> snapshot;  // that they were made of
    std::string bytes;                             // empty: not made yet
  };
  struct Figure {
    std::uint32_t probe;
    Metric metric;
    std::size_t bytes;  // when it is complete
    std::vector<Cells> sources;
  };

  Figure& figureOf(const ProbeGrid& grid, const Metric& metric, std::uint32_t probe);

  std::deque<Figure> figures_;  // the oldest first
  std::size_t bytes_ = 0;       // of all of them
  std::string unkept_;
};

}  // namespace pingloom::controller
