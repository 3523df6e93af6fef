// Answers /api/v1/session, which signs browsers in and out. A browser needs a cookie because its
// WebSockets cannot carry a token. Any thread.
#pragma once

#include <string_view>

#include "http/access.h"
#include "http/message.h"
#include "http/server.h"

namespace pingloom::http {

constexpr std::string_view kSessionPath = "/api/v1/session";  // needs no role, whatever the method

// GET returns the peer's role, POST {"token": TOKEN} signs a browser in with a cookie, and DELETE
// signs it out. `access` is nullptr where no access is configured.
Response answerSession(Access* access, const Request& request, ServerCounters& counters);

}  // namespace pingloom::http
