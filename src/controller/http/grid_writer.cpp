#include "controller/http/grid_writer.h"

#include <fmt/format.h>

#include <array>
#include <utility>

namespace pingloom::controller::api {

std::unique_ptr<GridWriter> gridWriter(const GridPlan& plan, const GridQuery& query) {
  switch (query.format) {
    case GridFormat::kCells:
      return cellsGrid(plan, query);
    case GridFormat::kCsv:
      return csvGrid(plan, query);
    case GridFormat::kJson:
      break;
  }
  return jsonGrid(plan, query);
}

http::Response GridWriter::finish() {
  while (addEnd()) {
  }
  http::Response response;
  response.content_type = contentType();
  response.body = std::move(out_);
  return response;
}

void appendValue(std::string& out, const Metric& metric, const MetricValue& value) {
  if (!value.measured()) {
    out += "null";
    return;
  }
  std::array<char, Metric::kMaxDigits> digits;
  out.append(digits.data(), metric.write(digits.data(), value));
}

char* writeValue(char* at, const Metric& metric, const GridLine& line, std::size_t destination) {
  const MetricValue& value = line.values[destination];
  if (!value.measured()) return at;
  if (line.against == nullptr) return metric.write(at, value);
  const MetricValue& then = (*line.against)[destination];
  if (!then.measured()) return at;
  if (metric.isRatio()) return fmt::format_to(at, "{:.6g}", value.number() - then.number());
  const bool less = value.part < then.part;
  if (less) *at++ = '-';
  return writeDecimal(at, less ? then.part - value.part : value.part - then.part);
}

}  // namespace pingloom::controller::api
