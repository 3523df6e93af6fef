#include "collector/watch/watch_json.h"

#include <string>

namespace pingloom::collector {
namespace {

using Json = nlohmann::ordered_json;

Json textOrNull(std::string_view text) {
  return text.empty() ? Json(nullptr) : Json(std::string(text));
}

}  // namespace

Json deviationJson(const Deviation& deviation) {
  return {{"metric", deviation.metric},
          {"part", textOrNull(deviation.part)},
          {"statistic", deviation.statistic},
          {"score", deviation.score},
          {"value", deviation.value},
          {"peers", deviation.peers ? Json(*deviation.peers) : Json(nullptr)},
          {"usual", deviation.usual ? Json(*deviation.usual) : Json(nullptr)}};
}

Json eventJson(const WatchEvent& event) {
  Json deviations = Json::array();
  for (const Deviation& deviation : event.deviations) {
    deviations.push_back(deviationJson(deviation));
  }
  return {{"time", formatUtc(event.utc)},
          {"kind", event.kind},
          {"began", event.began},
          {"host", event.host},
          {"application", event.application},
          {"pid", event.pid},
          {"owner", event.owner},
          {"statistic", textOrNull(event.statistic)},
          {"metric", textOrNull(event.metric)},
          {"value", event.value},
          {"limit", event.limit},
          {"deviations", std::move(deviations)}};
}

}  // namespace pingloom::collector
