// Parses a request for a burst. Any thread.
#pragma once

#include <string_view>

#include "controller/control/burst_board.h"
#include "controller/model/board.h"
#include "http/message.h"

namespace pingloom::controller::api {

constexpr std::size_t kMaxBurstRequest = 4096;

// The error is the answer: 400 where the request is malformed or out of bounds, 404 where the plan
// has no such pair, 413 and 415 where the body is no short JSON document.
tl::expected<BurstOrder, http::Response> burstOrder(const GridPlan& plan,
                                                    const http::Request& request);

}  // namespace pingloom::controller::api
