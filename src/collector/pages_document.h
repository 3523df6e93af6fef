// /api/v1/pages of the collector: agents with their pages and every metric's value, as JSON.
// docs/collector.md describes it. Any thread.
#pragma once

#include "collector/board.h"
#include "http/message.h"

namespace pingloom::collector {

class Watcher;

// Returns all agents, or the one that the parameter `agent` names by its host or HOST:PORT; 404 if
// that agent is not read. `watcher` is nullptr if pages are not watched.
http::Response pagesDocument(const Board& board, const Watcher* watcher,
                             const http::Request& request);

}  // namespace pingloom::collector
