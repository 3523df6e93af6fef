// Incidents and silences as JSON: the one form for the API, the live page, Redis, alerts and the
// ledger (docs/verdicts.md has the fields). Any thread.
#pragma once

#include <nlohmann/json.hpp>
#include <string_view>

#include "common/error.h"
#include "controller/model/incident.h"

namespace pingloom::controller {

using IncidentJson = nlohmann::ordered_json;

IncidentJson toJson(const Incident& incident);
IncidentJson toJson(const Silence& silence);
IncidentJson toJson(const Maintenance& maintenance);

// The whole verdict: "open", "recent", "silences", "maintenance", "judged_pairs", "oldest_window".
IncidentJson toJson(const Verdict& verdict);

// These read what toJson() made. Fails where a member is missing or malformed.
Result<Incident> incidentFrom(std::string_view json);
Result<Silence> silenceFrom(std::string_view json);
Result<Maintenance> maintenanceFrom(std::string_view json);

}  // namespace pingloom::controller
