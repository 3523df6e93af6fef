// Keeps the encoded cells of row messages, so that they are made once for all viewers of a grid.
// The HTTP thread.
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
  // The bound on the kept cells. One probe and metric takes at most half of it; a larger grid is
  // encoded at each request.
  static constexpr std::size_t kMaxBytes = 64UL * 1024 * 1024;

  // Returns the cells of one source of one probe, valid until the next call. `snapshot` may be
  // nullptr.
  const std::string& cells(const GridPlan& plan, const Metric& metric, std::uint32_t probe,
                           std::uint32_t source,
                           const std::shared_ptr<const SourceSnapshot>& snapshot);
  void clear();  // the plan has changed

 private:
  struct Cells {
    std::weak_ptr<const SourceSnapshot> snapshot;  // the source of the bytes
    std::string bytes;                             // empty: not made yet
  };
  struct Figure {
    std::uint32_t probe;
    Metric metric;
    // The size of the complete figure.
    std::size_t bytes;
    std::vector<Cells> sources;
  };

  Figure& figureOf(const ProbeGrid& grid, const Metric& metric, std::uint32_t probe);

  std::deque<Figure> figures_;  // the oldest first
  // The size of all figures.
  std::size_t bytes_ = 0;
  std::string unkept_;
};

}  // namespace pingloom::controller
