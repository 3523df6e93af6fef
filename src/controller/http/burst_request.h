// What a request to probe a pair at once asks for. Any thread.
#pragma once

#include <string_view>

#include "controller/control/burst_board.h"
#include "controller/model/board.h"
#include "http/message.h"

namespace pingloom::controller::api {

constexpr std::size_t kMaxBurstRequest = 4096;

// The error is the answer: 400 for what cannot be read or is out of bounds, 404 for what is no pair
// of the plan, 413 and 415 for another body than a short JSON document.
tl::expected<BurstOrder, http::Response> burstOrder(const GridPlan& plan,
                                                    const http::Request& request);

}  // namespace pingloom::controller::api
