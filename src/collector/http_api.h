// What the collector answers over HTTP: /metrics, /healthz, /api/v1/pages. Always from the board,
// never by reading an agent; /metrics/adaptive and /api/v1/events where pages are watched.
// docs/collector.md. Any thread.
#pragma once

#include "collector/board.h"
#include "http/message.h"
#include "http/server.h"

namespace pingloom::collector {

class Watcher;

// `watcher`: nullptr where pages are not watched. `counters`: of the server that answers.
http::Response answer(const Board& board, Watcher* watcher, const http::ServerCounters& counters,
                      const http::Request& request);

}  // namespace pingloom::collector
