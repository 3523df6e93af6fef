#include "controller/http/live_rows.h"

#include <algorithm>

#include "controller/http/live_frames.h"

namespace pingloom::controller {
namespace {

std::size_t bytesOf(const ProbeGrid& grid) {
  return grid.sources.size() * grid.destinations.size() * kLiveBytesPerCell;
}

}  // namespace

const std::string& LiveRows::cells(const GridPlan& plan, const Metric& metric, std::uint32_t probe,
                                   std::uint32_t source,
                                   const std::shared_ptr<const SourceSnapshot>& snapshot) {
  const ProbeGrid& grid = plan.probes[probe];
  if (bytesOf(grid) > kMaxBytes / 2) {
    unkept_ = liveCells(grid, metric, source, snapshot.get());
    return unkept_;
  }
  Cells& cells = figureOf(grid, metric, probe).sources[source];
  if (cells.bytes.empty() || cells.snapshot.lock() != snapshot) {
    cells.bytes = liveCells(grid, metric, source, snapshot.get());
    cells.snapshot = snapshot;
  }
  return cells.bytes;
}

LiveRows::Figure& LiveRows::figureOf(const ProbeGrid& grid, const Metric& metric,
                                     std::uint32_t probe) {
  const auto known = std::find_if(figures_.begin(), figures_.end(), [&](const Figure& figure) {
    return figure.probe == probe && figure.metric == metric;
  });
  if (known != figures_.end()) return *known;
  while (!figures_.empty() && bytes_ + bytesOf(grid) > kMaxBytes) {
    bytes_ -= figures_.front().bytes;
    figures_.pop_front();
  }
  bytes_ += bytesOf(grid);
  figures_.push_back({probe, metric, bytesOf(grid), std::vector<Cells>(grid.sources.size())});
  return figures_.back();
}

void LiveRows::clear() {
  figures_.clear();
  bytes_ = 0;
}

}  // namespace pingloom::controller
