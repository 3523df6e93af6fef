// Writes a whole mesh as a document, in the same way for the present and the past. It works source
// by source, and keeps no more than a byte a pair in addition to the text, which can be taken in
// pieces while it is made. One thread per object.
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
  virtual std::string_view contentType() const { return "application/json"; }
  virtual void add(const GridLine& line) = 0;  // once for each source of the probe, in their order
  // Appends some of what follows the sources, after all of them. False: the text is complete.
  virtual bool addEnd() { return false; }

  // The text that was made since it was last taken.
  std::string& text() { return out_; }
  http::Response finish();  // makes the end; the answer has all of the text

 protected:
  std::string out_;
};

// Returns the writer for the query's format. Plan and query have to outlive it.
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
std::unique_ptr<GridWriter> csvGrid(const GridPlan& plan, const GridQuery& query);

}  // namespace pingloom::controller::api
