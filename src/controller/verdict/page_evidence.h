// Chooses the anomalies of applications that belong to the evidence against their host, and writes
// the clause that names them in an incident's sentence. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "controller/model/page_anomaly.h"

namespace pingloom::controller {

// Drops what the agents' own applications say, because that repeats the pairs, sorts the rest by
// score, and keeps the first Incident::kMaxAnomalies.
void rankAnomalies(std::vector<PageAnomaly>& anomalies);

// Returns e.g. ", and application trainer's step_seconds p50 is 1.54 x its peers'"; "" if there are
// none. `accused` is the host that the sentence is about, or "" if it is about something else. The
// clause names the application's host where that is another one or several hosts have anomalies.
std::string clauseOf(const std::vector<PageAnomaly>& anomalies, std::string_view accused);

}  // namespace pingloom::controller
