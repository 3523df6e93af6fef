// Directs HTTP requests: to the page of telemetry stores and its files, to sign-in, to the stores,
// and everything else to http_api.h. Any thread.
#pragma once

#include <memory>

#include "collector/board.h"
#include "collector/stores/store_service.h"
#include "http/access.h"
#include "http/message.h"
#include "http/server.h"
#include "http/static_files.h"

namespace pingloom::collector {

class PushService;
class Watcher;

// What answers are made from.
struct HttpSources {
  const Board& board;
  Watcher* watcher = nullptr;            // nullptr if pages are not watched
  StoreService* stores = nullptr;        // nullptr if there are none
  const PushService* push = nullptr;     // nullptr if nothing can be pushed
  std::shared_ptr<http::Access> access;  // nullptr if not configured
  std::shared_ptr<http::ServerCounters> counters;
};

class HttpRouter {
 public:
  // `page` is empty if the page is not built. What the pointers name outlives the router.
  HttpRouter(HttpSources sources, http::StaticFiles page)
      : from_(std::move(sources)), page_(std::move(page)) {}

  // Health checks, sign-in and the page's files, which say nothing, need no role.
  http::Role needs(const http::Request& request) const;
  http::Answer answer(const http::Request& request) const;

 private:
  const HttpSources from_;
  const http::StaticFiles page_;
};

}  // namespace pingloom::collector
