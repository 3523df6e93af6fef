#include "collector/http_router.h"

#include "collector/http_api.h"
#include "collector/stores/store_api.h"
#include "common/time.h"
#include "http/session_answer.h"

namespace pingloom::collector {

http::Role HttpRouter::needs(const http::Request& request) const {
  const bool open = request.path == "/healthz" || request.path == http::kSessionPath ||
                    (request.method == "GET" && page_.has(request.path));
  return open ? http::Role::kNone : http::usualNeeds(request);
}

http::Answer HttpRouter::answer(const http::Request& request) const {
  if (request.path == http::kSessionPath) {
    if (auto refused = http::refusedParameter(request, {})) return std::move(*refused);
    return http::answerSession(from_.access.get(), request, *from_.counters);
  }
  if (request.path.starts_with(kStoreApi)) return answerStores(from_.stores, request, utcNow());
  if (request.method == "GET") {
    if (auto file = page_.find(request.path)) return std::move(*file);
  }
  return collector::answer({from_.board, from_.watcher, *from_.counters, from_.stores, from_.push},
                           request);
}

}  // namespace pingloom::collector
