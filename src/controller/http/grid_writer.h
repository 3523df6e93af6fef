// A whole mesh as one document, the same for the present and for the past. It is written source by
// source: beside the answer no more is kept than a byte a pair. One thread per object.
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

// What a grid is asked for.
struct GridQuery {
  std::uint32_t probe = 0;
  Metric metric;
  std::string metric_name;
  GridFormat format = GridFormat::kJson;
};

// One source. States and values are those of the probe's destinations, in their order.
struct GridLine {
  std::optional<Nanos> start_utc;  // of the window; nullopt: there is none
  Nanos window = 0;
  States states;  // nullopt: not a pair
  std::vector<MetricValue> values;

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

// In the format that the query asks for. Plan and query have to live as long as it.
std::unique_ptr<GridWriter> gridWriter(const GridPlan& plan, const GridQuery& query);

// As values are in JSON: null where nothing was measured.
void appendValue(std::string& out, const Metric& metric, const MetricValue& value);

// One of each kind.
std::unique_ptr<GridWriter> jsonGrid(const GridPlan& plan, const GridQuery& query);
// A line for each pair: addresses, names, state and value.
std::unique_ptr<GridWriter> csvGrid(const GridPlan& plan, const GridQuery& query);
// About what it comes to: names are in it once for each pair.
std::uint64_t csvGridBytes(const GridPlan& plan, const ProbeGrid& grid);
constexpr std::uint64_t kMaxCsvGridBytes = 1ULL << 30;
// As the live connection sends it: one message of rows.
std::unique_ptr<GridWriter> cellsGrid(const GridPlan& plan, const GridQuery& query);

}  // namespace pingloom::controller::api
