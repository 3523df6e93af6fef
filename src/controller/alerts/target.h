// A target of alerts as the configuration has it; docs/alerts.md explains every key. Values.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "common/vocabulary.h"
#include "controller/model/incident.h"

namespace pingloom::controller {

enum class AlertKind : std::uint8_t { kAlertmanager, kWebhook, kPagerduty, kSlack, kCommand };
constexpr std::array<std::string_view, 5> kAlertKindNames = {"alertmanager", "webhook", "pagerduty",
                                                             "slack", "command"};
constexpr std::string_view name(AlertKind kind) {
  return kAlertKindNames[static_cast<std::size_t>(kind)];
}

struct AlertTarget {
  // There are at most so many targets; each URL of a target counts.
  static constexpr std::size_t kMax = 64;
  static constexpr std::size_t kMaxName = 64;

  std::string name;
  AlertKind kind = AlertKind::kWebhook;
  std::vector<std::string> urls;   // several only for an alertmanager
  std::filesystem::path url_file;  // holds the URL instead
  // The command and its arguments.
  std::vector<std::string> argv;
  std::filesystem::path secret_file;  // bearer token or routing key; empty: none
  std::filesystem::path ca_file;      // empty: the system's
  std::vector<Severity> severities = {Severity::kSlow, Severity::kVerySlow, Severity::kLossy,
                                      Severity::kDown};
  std::vector<CulpritKind> kinds;             // empty: all
  std::vector<std::string> probes;            // empty: all
  std::map<std::string, std::string> labels;  // an incident has all of them

  // Returns how many places a notification goes to.
  std::size_t lanes() const { return urls.size() > 1 ? urls.size() : 1; }

  bool wants(const Incident& incident) const {
    const auto has = [](const auto& list, const auto& value) {
      return std::find(list.begin(), list.end(), value) != list.end();
    };
    const auto listed = [&](const std::string& probe) { return has(probes, probe); };
    const auto labelled = [&](const auto& label) {
      const auto found = incident.labels.find(label.first);
      return found != incident.labels.end() && found->second == label.second;
    };
    return has(severities, incident.severity) &&
           (kinds.empty() || has(kinds, incident.culprit.kind)) &&
           (probes.empty() ||
            std::any_of(incident.probes.begin(), incident.probes.end(), listed)) &&
           std::all_of(labels.begin(), labels.end(), labelled);
  }
};

}  // namespace pingloom::controller
