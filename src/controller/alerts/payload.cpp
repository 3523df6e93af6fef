#include "controller/alerts/payload.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "common/duration.h"
#include "common/fnv1a.h"
#include "common/json_text.h"
#include "common/text.h"

namespace pingloom::controller {
namespace {

constexpr std::size_t kMaxSummary = 1024;  // PagerDuty's bound
constexpr std::size_t kMaxSlackText = 3000;

bool alertResolved(const Notification& notification) {
  return notification.occasion == Occasion::kResolved;
}

// The names of Prometheus' labels have no other characters.
std::string labelName(std::string_view text) {
  std::string made = "label_";
  for (const char c : text) {
    const bool fits = std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
    made += fits ? c : '_';
  }
  return made;
}

IncidentJson alertLabels(const Notification& notification, Severity severity) {
  const Incident& incident = notification.incident;
  IncidentJson json = {{"alertname", notification.test ? "PingloomTest" : "PingloomIncident"},
                       {"incident", std::to_string(incident.id)},
                       {"kind", name(incident.culprit.kind)},
                       {"culprit", incident.culprit.name},
                       {"severity", name(severity)}};
  for (const auto& [label, value] : incident.labels) {
    if (!value.empty()) json[labelName(label)] = value;
  }
  return json;
}

std::string alertEvidence(const Incident& incident) {
  std::string text;
  for (const Evidence& pair : incident.evidence) {
    const std::string line = fmt::format("{} {} -> {}: {}", pair.probe, pair.source_name,
                                         pair.destination_name, pair.because);
    text += (text.empty() ? "" : "\n") + line;
  }
  return text;
}

IncidentJson alertAnnotations(const Incident& incident) {
  IncidentJson json = {{"summary", incident.sentence}};
  if (!incident.evidence.empty()) json["evidence"] = alertEvidence(incident);
  if (!incident.tell.empty()) json["tell"] = incident.tell;
  if (incident.judged_pairs > 0) {
    json["pairs"] = fmt::format("{} of {} are bad", incident.bad_pairs, incident.judged_pairs);
  }
  return json;
}

Nanos alertEnd(const Incident& incident, Nanos fallback_utc) {
  return incident.closed_utc == 0 ? fallback_utc : incident.closed_utc;
}

IncidentJson alertOf(const Notification& notification, Severity severity, Nanos ends_utc) {
  return {{"labels", alertLabels(notification, severity)},
          {"annotations", alertAnnotations(notification.incident)},
          {"startsAt", formatUtc(notification.incident.opened_utc)},
          {"endsAt", formatUtc(std::max(ends_utc, notification.incident.opened_utc))}};
}

// It stays the same from one notification to the next.
std::string alertFingerprint(std::string_view text) {
  return fmt::format("{:016x}", fnv1a64(text));
}

std::string_view pagerdutySeverity(Severity severity) {
  if (severity == Severity::kDown) return "critical";
  if (severity == Severity::kLossy || severity == Severity::kVerySlow) return "error";
  return severity == Severity::kSlow ? "warning" : "info";
}

std::string dedupKey(const Notification& notification) {
  if (notification.test) return "pingloom-" + notification.key;
  return fmt::format("pingloom-{}", notification.incident.id);
}

// Slack reads these three characters as markup.
std::string slackText(std::string_view text) {
  std::string made;
  for (const char c : text) {
    if (c == '&') {
      made += "&amp;";
    } else if (c == '<') {
      made += "&lt;";
    } else if (c == '>') {
      made += "&gt;";
    } else {
      made += c;
    }
  }
  return made;
}

}  // namespace

std::string alertmanagerBody(const Notification& notification, Nanos now_utc) {
  const Incident& incident = notification.incident;
  const Nanos ends_utc = alertResolved(notification) ? alertEnd(incident, notification.made_utc)
                                                     : now_utc + kAlertEndsAfter;
  IncidentJson alerts = IncidentJson::array();
  for (const EndedSeverity& one : notification.ended) {
    alerts.push_back(alertOf(notification, one.severity, one.ended_utc));
  }
  alerts.push_back(alertOf(notification, incident.severity, ends_utc));
  return jsonLine(alerts);
}

std::string webhookBody(const Notification& notification, std::string_view target) {
  const Incident& incident = notification.incident;
  const char* status = alertResolved(notification) ? "resolved" : "firing";
  const IncidentJson labels = alertLabels(notification, incident.severity);
  const IncidentJson annotations = alertAnnotations(incident);
  IncidentJson alert = {
      {"status", status},
      {"labels", labels},
      {"annotations", annotations},
      {"startsAt", formatUtc(incident.opened_utc)},
      {"endsAt", alertResolved(notification) ? formatUtc(alertEnd(incident, notification.made_utc))
                                             : "0001-01-01T00:00:00Z"},
      {"generatorURL", ""},
      {"fingerprint", alertFingerprint(incidentKey(incident))}};
  IncidentJson json = {
      {"version", "4"},
      {"groupKey", fmt::format("pingloom/{}", incidentKey(incident))},
      {"truncatedAlerts", 0},
      {"status", status},
      {"receiver", target},
      {"groupLabels", {{"alertname", labels["alertname"]}, {"incident", labels["incident"]}}},
      {"commonLabels", labels},
      {"commonAnnotations", annotations},
      {"externalURL", ""},
      {"alerts", IncidentJson::array({std::move(alert)})},
      {"notification", notification.key},
      {"incident", toJson(incident)}};
  return jsonLine(json);
}

std::string pagerdutyBody(const Notification& notification, std::string_view routing_key) {
  const Incident& incident = notification.incident;
  IncidentJson json = {{"routing_key", routing_key},
                       {"event_action", alertResolved(notification) ? "resolve" : "trigger"},
                       {"dedup_key", dedupKey(notification)}};
  if (notification.occasion == Occasion::kAcknowledged) json["event_action"] = "acknowledge";
  if (notification.occasion != Occasion::kFiring) return jsonLine(json);
  std::string summary = fmt::format("{}: {}", name(incident.severity), incident.sentence);
  shorten(summary, kMaxSummary - 3);
  json["client"] = "pingloom";
  json["payload"] = {{"summary", summary},
                     {"source", incident.culprit.name},
                     {"severity", pagerdutySeverity(incident.severity)},
                     {"timestamp", formatUtc(incident.opened_utc)},
                     {"group", join(incident.probes, ",")},
                     {"class", name(incident.culprit.kind)},
                     {"custom_details", toJson(incident)}};
  return jsonLine(json);
}

std::string slackBody(const Notification& notification) {
  const Incident& incident = notification.incident;
  std::string text =
      alertResolved(notification)
          ? fmt::format("[resolved] {}", slackText(incident.sentence))
          : fmt::format("[{}] {}", name(incident.severity), slackText(incident.sentence));
  if (!notification.test) {
    text += fmt::format("\nIncident {}, {} {}, since {}", incident.id, name(incident.culprit.kind),
                        slackText(incident.culprit.name), formatUtc(incident.opened_utc));
  }
  if (alertResolved(notification)) {
    const Nanos lasted = alertEnd(incident, notification.made_utc) - incident.opened_utc;
    text += fmt::format(", for {}", formatDuration(std::max(lasted / kSecond, Nanos{1}) * kSecond));
  } else if (incident.judged_pairs > 0) {
    text += fmt::format(", {} of {} pairs", incident.bad_pairs, incident.judged_pairs);
  }
  shorten(text, kMaxSlackText);
  const IncidentJson json = {{"text", text}};
  return jsonLine(json);
}

}  // namespace pingloom::controller
