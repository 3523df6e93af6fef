// A whole mesh of the present as CSV, sent while it is made. A piece is at least one source's
// lines, and at most kCsvPieceBytes more than those. past_grid.h does the same for the past.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "controller/http/grid_writer.h"

namespace pingloom::controller::api {

constexpr std::size_t kCsvPieceBytes = 64 * 1024;

// Each source's lines are as new as the moment at which they are sent, so that a slow reader keeps
// no old rows in memory. A new plan ends the answer. The board outlives it.
http::Response csvOf(const Board& board, std::shared_ptr<const GridPlan> plan, GridQuery query);

}  // namespace pingloom::controller::api
