// Renders /api/v1/applications: a line for each application of each agent, without its values.
// docs/collector.md is its reference. Any thread.
#pragma once

#include "collector/board.h"
#include "http/message.h"

namespace pingloom::collector {

class Watcher;

// `watcher` is nullptr if pages are not watched.
http::Response applicationsDocument(const Board& board, const Watcher* watcher,
                                    const http::Request& request);

}  // namespace pingloom::collector
