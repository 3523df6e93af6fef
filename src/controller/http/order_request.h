// Parses the bodies of requests about incidents, silences and maintenance. The error is the answer.
// Pure; any thread.
#pragma once

#include "common/time.h"
#include "controller/control/order_board.h"
#include "http/message.h"

namespace pingloom::controller::api {

constexpr std::size_t kMaxOrderRequest = 64 * 1024;
constexpr std::size_t kMaxMatchers = 32;

// {"acknowledge": true|false, "by": TEXT, "comment": TEXT}
tl::expected<VerdictOrder, http::Response> acknowledgeOrder(std::uint64_t incident,
                                                            const http::Request& request);
// {"matchers": {LABEL: VALUE, ...}, "until": TIME or "duration": "2h", "by": TEXT, "comment": TEXT}
tl::expected<VerdictOrder, http::Response> silenceOrder(const http::Request& request,
                                                        Nanos now_utc);
// {"host": NAME, "until": TIME or "duration": "2h" or neither, "by": TEXT, "comment": TEXT}
tl::expected<VerdictOrder, http::Response> maintenanceOrder(const http::Request& request,
                                                            Nanos now_utc);

}  // namespace pingloom::controller::api
