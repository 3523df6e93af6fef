#include <fmt/format.h>

#include "common/json_text.h"
#include "common/text.h"
#include "common/time.h"
#include "controller/http/api.h"

namespace pingloom::controller::api {

std::vector<std::string> notReady(const Board& board) {
  std::vector<std::string> reasons;
  if (board.plan()->pinglist == nullptr) reasons.emplace_back("no pinglist is in force");
  const auto redis = board.redis();
  if (!redis->connected) {
    std::string reason = "redis is not connected";
    if (!redis->target.empty()) reason += " (" + redis->target + ")";
    if (!redis->last_error.empty()) reason += ": " + redis->last_error;
    reasons.push_back(std::move(reason));
  }
  if (const auto cluster = board.cluster()->asOf(monotonicNow()); !cluster.error.empty()) {
    reasons.push_back("the lease among the controllers: " + cluster.error);
  }
  return reasons;
}

http::Response health() {
  http::Response response;
  response.body = "{\"healthy\":true}\n";
  return response;
}

http::Response readiness(const Board& board, bool whole) {
  const auto reasons = notReady(board);
  const auto cluster = board.cluster()->asOf(monotonicNow());
  const std::string role = cluster.alone() ? "" : fmt::format(R"(,"role":"{}")", cluster.role());
  http::Response response;
  if (reasons.empty()) {
    response.body = fmt::format("{{\"ready\":true{}}}\n", role);
    return response;
  }
  response.status = 503;
  if (!whole) {
    response.body = "{\"ready\":false}\n";
    return response;
  }
  response.body = fmt::format(R"({{"ready":false{},"reasons":[)", role);
  for (std::size_t i = 0; i < reasons.size(); ++i) {
    if (i != 0) response.body += ',';
    appendJsonString(response.body, reasons[i]);
  }
  response.body += R"(],"error":{"reason":)";
  appendJsonString(response.body, join(reasons, "; "));
  response.body += "}}\n";
  return response;
}

}  // namespace pingloom::controller::api
