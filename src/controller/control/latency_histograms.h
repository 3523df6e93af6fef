// Counts the exchanges of the windows into the histograms of model/latency.h. The samples and
// buckets of the reports themselves are counted, never a percentile, so the histogram of a rack is
// as exact as that of a pair. A sample is in its own bucket; one that an agent sent as a log-linear
// bucket may be in the next one, if it is within 1.6 % of the border.
// The control thread. Memory: a LatencyCell for each combination and probe, twice; nothing is
// allocated for a row.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "controller/model/board.h"
#include "controller/model/latency.h"
#include "wire/row_view.h"

namespace pingloom::controller {

class LatencyHistograms {
 public:
  // The counts of probes and combinations that are also in the new plan go on. Those of
  // combinations that are not go on in the probe's own histogram.
  void setPlan(const GridPlan& plan);

  // Counts a report of a source, by its places in the plan, after the rows were checked: begin(),
  // add() for each row, and commit(). Nothing is counted of a report that was not committed.
  void begin(std::uint32_t probe, std::uint32_t source);
  void add(std::uint32_t destination, const wire::RowView& row);
  void commit();

  // Returns the counts if they changed since the last call, or nullptr.
  std::shared_ptr<const LatencySnapshot> takeChanged();

 private:
  std::shared_ptr<const LatencyShape> shape_ = std::make_shared<LatencyShape>();
  std::vector<std::vector<LatencyCell>> cells_;  // by probe
  bool changed_ = true;
  // The report in hand.
  std::uint32_t probe_ = 0;
  std::uint32_t source_ = 0;
  std::vector<LatencyCell> staged_;     // by cell
  std::vector<std::uint16_t> touched_;  // the cells that have counts
  std::vector<bool> is_touched_;
};

}  // namespace pingloom::controller
