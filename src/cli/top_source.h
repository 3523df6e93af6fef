// Fetches what `pingloom top` shows. It asks /api/v1/grid and not Redis, because a grid is one
// compact matrix for each figure, with the states that the controller derived, while Redis would
// send every whole row for four of its numbers. Blocking; any thread.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cli/top_ranking.h"
#include "common/error.h"
#include "common/time.h"
#include "http/client.h"

namespace pingloom::cli {

// How long a command waits for one answer; a grid can be large.
constexpr Nanos kGridTimeout = 30 * kSecond;

// Returns the names of the controller's probes, in its order.
Result<std::vector<std::string>> fetchProbeNames(const http::Site& site, Nanos timeout);

Result<TopGrid> fetchTopGrid(const http::Site& site, const std::string& probe, Nanos timeout);

// Takes one figure out of an answer of /api/v1/grid. The first figure sets the grid's shape;
// another shape (the pinglist changed between the two) is an error. The text comes from outside.
Status addFigure(std::string_view body, TopSort figure, TopGrid& grid);

}  // namespace pingloom::cli
