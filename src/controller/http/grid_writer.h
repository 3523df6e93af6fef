// Writes a whole mesh as one document, in the same way for the present and the past. It works
// source by source, and keeps no more than a byte a pair in addition to the answer. CSV is sent
// while it is made (grid_csv.h). One thread per object.
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
  // A grid of the past may have these: values are the difference to a time, or severities and
  // values are the worst for so long.
  std::optional<Nanos> against_utc{};
  Nanos worst_of = 0;
};

// One source of the grid. States and values are in the order of the probe's destinations.
struct GridLine {
  // When the window began; nullopt: the source has no window.
  std::optional<Nanos> start_utc;
  Nanos window = 0;
  States states;  // nullopt: not a pair
  std::vector<MetricValue> values;
  // What is subtracted from the values; nullptr: nothing. Valid during add().
  const std::vector<MetricValue>* against = nullptr;
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

// Fills in a source of the present; `snapshot` may be nullptr.
void fillLine(const ProbeGrid& grid, const Metric& metric, std::size_t source,
              const SourceSnapshot* snapshot, GridLine& line);

class GridWriter {
 public:
  virtual ~GridWriter() = default;
  virtual void add(const GridLine& line) = 0;  // once for each source of the probe, in their order
  virtual http::Response finish() = 0;         // once, after all
};

// Returns the writer for the query's format, which is not CSV. Plan and query have to outlive it.
std::unique_ptr<GridWriter> gridWriter(const GridPlan& plan, const GridQuery& query);

// Appends a value as JSON; null where nothing was measured.
void appendValue(std::string& out, const Metric& metric, const MetricValue& value);

// Writes the value or the difference of a pair as a number and returns its end; `at` where there is
// none. It needs room for Metric::kMaxDigits.
char* writeValue(char* at, const Metric& metric, const GridLine& line, std::size_t destination);

// These return one kind of writer each.
std::unique_ptr<GridWriter> jsonGrid(const GridPlan& plan, const GridQuery& query);
// Writes one message of rows in the format of the live connection.
std::unique_ptr<GridWriter> cellsGrid(const GridPlan& plan, const GridQuery& query);

}  // namespace pingloom::controller::api
