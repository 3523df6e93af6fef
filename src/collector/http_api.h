// Answers HTTP requests: /metrics, /healthz and /api/v1/pages, and if pages are watched
// /metrics/adaptive, /api/v1/events and /api/v1/sampling. Answers come from the board and never
// read an agent. See docs/collector.md. Any thread.
#pragma once

#include "collector/board.h"
#include "collector/stores/store_service.h"
#include "http/message.h"
#include "http/server.h"

namespace pingloom::collector {

class Watcher;

// `watcher` is nullptr if pages are not watched, and `stores` if there are none. `counters` are
// those of the HTTP server.
http::Response answer(const Board& board, Watcher* watcher, const http::ServerCounters& counters,
                      const http::Request& request, const StoreService* stores = nullptr);

}  // namespace pingloom::collector
