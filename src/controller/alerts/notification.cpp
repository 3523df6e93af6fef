#include "controller/alerts/notification.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "common/json_text.h"

namespace pingloom::controller {
namespace {

constexpr std::size_t kMaxKey = 128;

Nanos storedTime(const IncidentJson& json) {
  const auto time = parseUtc(json.get<std::string>());
  if (!time) throw std::invalid_argument("malformed time");
  return *time;
}

Occasion storedOccasion(const IncidentJson& json) {
  const auto text = json.get<std::string>();
  const auto found = std::find(kOccasionNames.begin(), kOccasionNames.end(), text);
  if (found == kOccasionNames.end()) throw std::invalid_argument("unknown occasion");
  return static_cast<Occasion>(found - kOccasionNames.begin());
}

}  // namespace

std::string incidentKey(const Incident& incident) {
  return fmt::format("{}-{}", incident.id, incident.opened_utc / kSecond);
}

Notification testNotification(Nanos now_utc) {
  Notification made;
  made.test = true;
  made.made_utc = now_utc;
  Incident& incident = made.incident;
  incident.culprit = {CulpritKind::kProbe, "test"};
  incident.severity = Severity::kSlow;
  incident.opened_utc = incident.updated_utc = now_utc;
  incident.sentence = "This is a test of pingloom's alerts. Nothing is wrong.";
  made.key = "test-" + std::to_string(now_utc / kMillisecond);
  return made;
}

IncidentJson endedJson(const std::vector<EndedSeverity>& ended) {
  IncidentJson json = IncidentJson::array();
  for (const EndedSeverity& one : ended) {
    json.push_back({{"severity", name(one.severity)}, {"at", formatUtc(one.ended_utc)}});
  }
  return json;
}

std::vector<EndedSeverity> endedFrom(const IncidentJson& json) {
  std::vector<EndedSeverity> made;
  if (!json.is_array() || json.size() > kSeverityNames.size()) {
    throw std::invalid_argument("malformed severities");
  }
  for (const IncidentJson& one : json) {
    const auto severity = severityNamed(one.at("severity").get<std::string>());
    if (!severity) throw std::invalid_argument("unknown severity");
    made.push_back({*severity, storedTime(one.at("at"))});
  }
  return made;
}

IncidentJson toJson(const Notification& notification) {
  return {{"key", notification.key},
          {"occasion", name(notification.occasion)},
          {"made", formatUtc(notification.made_utc)},
          {"ended", endedJson(notification.ended)},
          {"incident", toJson(notification.incident)}};
}

Result<Notification> notificationFrom(std::string_view text) {
  try {
    const auto json = IncidentJson::parse(text);
    Notification made;
    made.key = json.at("key").get<std::string>();
    if (made.key.empty() || made.key.size() > kMaxKey) return makeError("key", "malformed");
    made.occasion = storedOccasion(json.at("occasion"));
    made.made_utc = storedTime(json.at("made"));
    made.ended = endedFrom(json.at("ended"));
    auto incident = incidentFrom(jsonLine(json.at("incident")));
    if (!incident) return tl::unexpected(incident.error());
    made.incident = std::move(*incident);
    return made;
  } catch (const std::exception& error) {
    return makeError("notification", fmt::format("malformed: {}", error.what()));
  }
}

}  // namespace pingloom::controller
