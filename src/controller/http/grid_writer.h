// Writes a whole mesh as one document, in the same way for the present and the past. It works
// source by source, and keeps no more than a byte a pair in addition to the answer. One thread per
// object.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "controller/http/metric.h"
#include "controller/model/board.h"
#include "http/message.h"

namespace pingloom::controller::api {

enum class GridFormat : std::uint8_t { kJson, kCsv, kCells };

// The parameters of a grid.
struct GridQuery {
  std::uint32_t probe = 0;
  Metric metric;
  std::string metric_name;
  GridFormat format = GridFormat::kJson;
};

// One source of the grid. States and values are in the order of the probe's destinations.
struct GridLine {
  std::optional<Nanos> start_utc;  // of the window; nullopt: the source has no window
  Nanos window = 0;
  States states;  // nullopt: not a pair
  std::vector<MetricValue> values;
  bool live = false;  // whether the grid has severities; the past has none
  // Shorter than `states`, or nullptr: the rest is not judged. Valid during add().
  const std::vector<Judged>* judged = nullptr;

  Severity severityOf(std::size_t destination) const {
    return judged != nullptr && destination < judged->size() ? (*judged)[destination].severity
                                                             : Severity::kNone;
  }

  std::optional<Nanos> endUtc() const {
    if (!start_utc) return std::nullopt;
    return *start_utc + window;
  }
};

class GridWriter {
 public:
  virtual ~GridWriter() = default;
  virtual void add(const GridLine& line) = 0;  // once for each source of the probe, in their order
  virtual http::Response finish() = 0;         // once, after all
};

// Returns the writer for the query's format. Plan and query have to outlive it.
std::unique_ptr<GridWriter> gridWriter(const GridPlan& plan, const GridQuery& query);

// Appends a value as JSON; null where nothing was measured.
void appendValue(std::string& out, const Metric& metric, const MetricValue& value);

// These return one kind of writer each.
std::unique_ptr<GridWriter> jsonGrid(const GridPlan& plan, const GridQuery& query);
// Writes a line for each pair: addresses, names, state, value and severity.
std::unique_ptr<GridWriter> csvGrid(const GridPlan& plan, const GridQuery& query);
// Estimates the size of that CSV, which repeats the names for each pair.
std::uint64_t csvGridBytes(const GridPlan& plan, const ProbeGrid& grid);
constexpr std::uint64_t kMaxCsvGridBytes = 1ULL << 30;
// Writes one message of rows in the format of the live connection.
std::unique_ptr<GridWriter> cellsGrid(const GridPlan& plan, const GridQuery& query);

}  // namespace pingloom::controller::api
