// What `pingloom top` shows, fetched from the controller. It asks /api/v1/grid and not Redis: a
// grid is one compact matrix per figure with the states as the controller derives them, while Redis
// would send every whole row (600 bytes a pair) for four numbers of it. Blocking; any thread.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cli/top_ranking.h"
#include "common/error.h"
#include "common/time.h"
#include "http/client.h"

namespace pingloom::cli {

// For one answer, where the command has nothing else to do. A grid is a large one.
constexpr Nanos kGridTimeout = 30 * kSecond;

// The names of the controller's probes, in its order.
Result<std::vector<std::string>> fetchProbeNames(const http::Site& site, Nanos timeout);

Result<TopGrid> fetchTopGrid(const http::Site& site, const std::string& probe, Nanos timeout);

// Takes one figure out of an answer of /api/v1/grid. The first sets the grid's shape; one of
// another shape (the pinglist changed in between) is an error. The text comes from outside.
Status addFigure(std::string_view body, TopSort figure, TopGrid& grid);

}  // namespace pingloom::cli
