#include "controller/redis/incident_keys.h"

#include <set>

#include "common/json_text.h"
#include "controller/model/incident_json.h"
#include "controller/redis/key_updates.h"

namespace pingloom::controller {

using std::string_view;

std::string IncidentKeys::key(std::uint64_t id) {
  return "pingloom:incident:" + std::to_string(id);
}

void IncidentKeys::forget() { all_ = true; }

void IncidentKeys::write(const Verdict& verdict, Commands& out) {
  if (all_) {
    out.add(string_view("DEL"), kOpenKey);
    for (auto& [id, written] : written_) written.updated_utc = 0;
  }
  std::set<std::uint64_t> known;
  for (const Incidents* list : {&verdict.open, &verdict.recent}) {
    for (const auto& incident : *list) {
      known.insert(incident->id);
      writeOne(*incident, out);
    }
  }
  std::erase_if(written_, [&known](const auto& at) { return !known.contains(at.first); });
  all_ = false;
}

void IncidentKeys::writeOne(const Incident& incident, Commands& out) {
  const auto found = written_.find(incident.id);
  const bool fresh = found == written_.end();
  const Written before = fresh ? Written{} : found->second;
  if (!fresh && before.updated_utc == incident.updated_utc &&
      before.silenced_by == incident.silenced_by) {
    return;
  }
  const std::string id = std::to_string(incident.id);
  const std::string name = key(incident.id);
  out.add(string_view("SET"), name, jsonLine(toJson(incident)));
  if (incident.open()) {
    out.add(string_view("HSET"), kOpenKey, id, incident.sentence);
  } else {
    out.add(string_view("HDEL"), kOpenKey, id);
    out.add(string_view("PEXPIRE"), name, std::uint64_t{kClosedLife / kMillisecond});
  }
  // What was closed before this process began is no news.
  if (incident.open() != before.open) {
    if (incident.open() || !fresh) writeEvent(incident, incident.open() ? "opened" : "closed", out);
  } else if (incident.open() && incident.severity != before.severity) {
    writeEvent(incident, "changed", out);
  }
  written_[incident.id] = {incident.updated_utc, incident.silenced_by, incident.severity,
                           incident.open()};
}

void IncidentKeys::writeEvent(const Incident& incident, string_view change, Commands& out) {
  const std::string limit = std::to_string(RedisKeys::kMaxEvents);
  out.add(string_view("XADD"), RedisKeys::kEventsKey, string_view("MAXLEN"), string_view("~"),
          limit, string_view("*"), string_view("time"), formatUtc(incident.updated_utc),
          string_view("incident"), std::to_string(incident.id), string_view("change"), change,
          string_view("kind"), name(incident.culprit.kind), string_view("culprit"),
          incident.culprit.name, string_view("severity"), name(incident.severity),
          string_view("sentence"), incident.sentence);
}

}  // namespace pingloom::controller
