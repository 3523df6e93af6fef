// What the collector answers over HTTP: /metrics, /healthz, /api/v1/pages. Always from the board,
// never by reading an agent; /metrics/adaptive and /api/v1/events where pages are watched.
// docs/collector.md. Any thread.
#pragma once

#include "collector/board.h"
#include "http/message.h"

namespace pingloom::collector {

class Watcher;

// `watcher`: nullptr where pages are not watched.
http::Response answer(const Board& board, Watcher* watcher, const http::Request& request);

}  // namespace pingloom::collector
