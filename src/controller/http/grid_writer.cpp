#include "controller/http/grid_writer.h"

#include <array>

namespace pingloom::controller::api {

std::unique_ptr<GridWriter> gridWriter(const GridPlan& plan, const GridQuery& query) {
  switch (query.format) {
    case GridFormat::kCsv:
      return csvGrid(plan, query);
    case GridFormat::kCells:
      return cellsGrid(plan, query);
    case GridFormat::kJson:
      break;
  }
  return jsonGrid(plan, query);
}

void appendValue(std::string& out, const Metric& metric, const MetricValue& value) {
  if (!value.measured()) {
    out += "null";
    return;
  }
  std::array<char, Metric::kMaxDigits> digits;
  out.append(digits.data(), metric.write(digits.data(), value));
}

}  // namespace pingloom::controller::api
