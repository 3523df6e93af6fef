// The translator's metrics and what else it serves by HTTP. Pure functions; any thread.
#pragma once

#include "http/message.h"
#include "http/server.h"
#include "translator/counters.h"

namespace pingloom::translator {

http::Response answer(const Counters& counters, const http::Request& request);

}  // namespace pingloom::translator
