// One thing to tell a target about an incident, and its form on disk. Values.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "common/error.h"
#include "common/time.h"
#include "controller/model/incident.h"
#include "controller/model/incident_json.h"

namespace pingloom::controller {

enum class Occasion : std::uint8_t { kFiring = 0, kAcknowledged = 1, kResolved = 2 };
constexpr std::array<std::string_view, 3> kOccasionNames = {"firing", "acknowledged", "resolved"};
constexpr std::string_view name(Occasion occasion) {
  return kOccasionNames[static_cast<std::size_t>(occasion)];
}

// A severity that the incident was reported with and no longer has. For an Alertmanager, whose
// alerts are told apart by their labels, it is another alert, which has to end.
struct EndedSeverity {
  Severity severity = Severity::kNone;
  Nanos ended_utc = 0;

  bool operator==(const EndedSeverity&) const = default;
};

struct Notification {
  // The same at every attempt, also after a restart; see docs/alerts.md.
  std::string key;
  Occasion occasion = Occasion::kFiring;
  Nanos made_utc = 0;
  Incident incident;
  std::vector<EndedSeverity> ended;  // at most one for each severity
  bool test = false;                 // somebody tries the target; there is no incident
};

// Names an incident among all that ever were, also where the ledger began anew.
std::string incidentKey(const Incident& incident);

// A notification that says that it is a test.
Notification testNotification(Nanos now_utc);

IncidentJson toJson(const Notification& notification);
// Reads what toJson() made. Fails where a member is missing or malformed.
Result<Notification> notificationFrom(std::string_view text);

IncidentJson endedJson(const std::vector<EndedSeverity>& ended);
// Throws a standard exception where it is malformed, as nlohmann's accessors do.
std::vector<EndedSeverity> endedFrom(const IncidentJson& json);

}  // namespace pingloom::controller
