// A whole mesh as one document, JSON or CSV, the same for the present and for the past. Any thread.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "controller/board.h"
#include "controller/http/metric.h"

namespace pingloom::controller::api {

// One for each of the probe's sources; nullptr: no window.
using Snapshots = std::vector<std::shared_ptr<const SourceSnapshot>>;

std::string gridJson(const GridPlan& plan, std::uint32_t probe, const Metric& metric,
                     std::string_view metric_name, const Snapshots& snapshots);

// A line for each pair: addresses, names, state and value.
std::string gridCsv(const GridPlan& plan, std::uint32_t probe, const Metric& metric,
                    std::string_view metric_name, const Snapshots& snapshots);

}  // namespace pingloom::controller::api
