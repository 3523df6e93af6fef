// The targets of alerts over HTTP: what became of their notifications, and a test of one.
#include <string>

#include "controller/http/api.h"
#include "controller/http/json_answer.h"

namespace pingloom::controller::api {
namespace {

http::Response responseOfTest(const std::string& target, const AlertTestAnswer& answer) {
  switch (answer.refusal) {
    case AlertTestRefusal::kUnknown:
      return http::errorResponse(404, "no target '" + target + "'");
    case AlertTestRefusal::kBusy: {
      auto busy = http::errorResponse(429, "another test of this target is under way");
      busy.headers.emplace_back("Retry-After", "10");
      return busy;
    }
    case AlertTestRefusal::kEnding:
      return http::errorResponse(503, "the controller is ending");
    case AlertTestRefusal::kNone:
      break;
  }
  Json json = {{"target", target}, {"delivered", true}, {"places", Json::array()}};
  for (const AlertTestAnswer::Place& place : answer.places) {
    const DeliveryResult& result = place.result;
    if (!result.delivered) json["delivered"] = false;
    json["places"].push_back({{"place", place.name},
                              {"delivered", result.delivered},
                              {"status", result.status == 0 ? Json() : Json(result.status)},
                              {"answer", result.answer},
                              {"error", textOrNull(result.error)}});
  }
  return jsonAnswer(json);
}

}  // namespace

Json alertsJson(const AlertStatuses& statuses) {
  Json json = Json::array();
  for (const AlertTargetStatus& status : statuses) {
    json.push_back({{"name", status.name},
                    {"kind", status.kind},
                    {"delivered", status.delivered},
                    {"failed", status.failed},
                    {"dropped", status.dropped},
                    {"waiting", status.waiting},
                    {"last_error", textOrNull(status.last_error)},
                    {"last_delivered", utcOrNull(status.last_delivered_utc)}});
  }
  return json;
}

http::Response alerts(const Board& board) {
  return jsonAnswer({{"targets", alertsJson(*board.alerts())}});
}

http::Answer testAlert(Alerts* targets, std::string_view rest) {
  constexpr std::string_view kTest = "/test";
  if (!rest.ends_with(kTest)) {
    return http::errorResponse(404, "the path is /api/v1/alerts/TARGET/test");
  }
  const std::string target(rest.substr(0, rest.size() - kTest.size()));
  if (targets == nullptr) return responseOfTest(target, {AlertTestRefusal::kUnknown, {}});
  return http::Later([targets, target](const http::Respond& respond) {
    targets->test(target, [target, respond](const AlertTestAnswer& answer) {
      respond(responseOfTest(target, answer));
    });
  });
}

}  // namespace pingloom::controller::api
