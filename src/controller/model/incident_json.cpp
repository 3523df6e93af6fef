#include "controller/model/incident_json.h"

#include <fmt/format.h>

#include <utility>

namespace pingloom::controller {
namespace {

using Json = IncidentJson;

// The id is a string, like a burst's: JSON's numbers are exact only up to 2^53.
std::string idText(std::uint64_t id) { return fmt::format("{}", id); }

Json timeOrNull(Nanos utc) { return utc == 0 || utc == kNever ? Json() : Json(formatUtc(utc)); }

Json culpritJson(const Culprit& culprit) {
  return {{"kind", name(culprit.kind)}, {"culprit", culprit.name}};
}

Json evidenceJson(const Evidence& evidence) {
  return {{"probe", evidence.probe},
          {"source", evidence.source.text()},
          {"source_name", evidence.source_name},
          {"destination", evidence.destination.text()},
          {"destination_name", evidence.destination_name},
          {"state", name(evidence.state)},
          {"severity", name(evidence.severity)},
          {"because", evidence.because}};
}

Json counterJson(const MovedCounter& moved) {
  return {{"host", moved.host},
          {"device", moved.device},
          {"port", moved.port == 0 ? Json() : Json(moved.port)},
          {"counter", moved.counter},
          {"kind", name(moved.kind)},
          {"moved", moved.moved},
          {"since", timeOrNull(moved.since_utc)}};
}

Json anomalyJson(const PageAnomaly& anomaly) {
  return {{"host", anomaly.host},
          {"application", anomaly.application},
          {"metric", anomaly.metric},
          {"part", anomaly.part.empty() ? Json() : Json(anomaly.part)},
          {"statistic", anomaly.statistic},
          {"score", anomaly.score},
          {"value", anomaly.value ? Json(*anomaly.value) : Json()},
          {"peers", anomaly.peers ? Json(*anomaly.peers) : Json()}};
}

template <typename Enum, std::size_t kCount>
Enum enumFrom(const Json& json, const std::array<std::string_view, kCount>& names) {
  const auto text = json.get<std::string>();
  for (std::size_t i = 0; i < kCount; ++i) {
    if (names[i] == text) return static_cast<Enum>(i);
  }
  throw std::invalid_argument("unknown word '" + text + "'");
}

std::uint64_t idFrom(const Json& json) { return std::stoull(json.get<std::string>()); }

Nanos timeFrom(const Json& json) {
  if (json.is_null()) return 0;
  const auto time = parseUtc(json.get<std::string>());
  if (!time) throw std::invalid_argument("malformed time");
  return *time;
}

IpAddress addressFrom(const Json& json) {
  const auto address = IpAddress::parse(json.get<std::string>());
  if (!address) throw std::invalid_argument("malformed address");
  return *address;
}

Culprit culpritFrom(const Json& json) {
  return {enumFrom<CulpritKind>(json.at("kind"), kCulpritKindNames),
          json.at("culprit").get<std::string>()};
}

Evidence evidenceFrom(const Json& json) {
  Evidence made;
  made.probe = json.at("probe").get<std::string>();
  made.source = addressFrom(json.at("source"));
  made.destination = addressFrom(json.at("destination"));
  made.source_name = json.at("source_name").get<std::string>();
  made.destination_name = json.at("destination_name").get<std::string>();
  made.state = enumFrom<PairState>(json.at("state"), kPairStateNames);
  made.severity = enumFrom<Severity>(json.at("severity"), kSeverityNames);
  made.because = json.at("because").get<std::string>();
  return made;
}

MovedCounter counterFrom(const Json& json) {
  MovedCounter made;
  made.host = json.at("host").get<std::string>();
  made.device = json.at("device").get<std::string>();
  if (!json.at("port").is_null()) made.port = json.at("port").get<std::uint32_t>();
  made.counter = json.at("counter").get<std::string>();
  made.kind = json.at("kind") == "load" ? CounterKind::kLoad : CounterKind::kError;
  made.moved = json.at("moved").get<std::uint64_t>();
  made.since_utc = timeFrom(json.at("since"));
  return made;
}

std::optional<double> numberFrom(const Json& json) {
  return json.is_null() ? std::nullopt : std::optional(json.get<double>());
}

PageAnomaly anomalyFrom(const Json& json) {
  PageAnomaly made;
  made.host = json.at("host").get<std::string>();
  made.application = json.at("application").get<std::string>();
  made.metric = json.at("metric").get<std::string>();
  if (!json.at("part").is_null()) made.part = json.at("part").get<std::string>();
  made.statistic = json.at("statistic").get<std::string>();
  made.score = json.at("score").get<double>();
  made.value = numberFrom(json.at("value"));
  made.peers = numberFrom(json.at("peers"));
  return made;
}

void readLists(const Json& json, Incident& made) {
  for (const Json& probe : json.at("probes")) made.probes.push_back(probe.get<std::string>());
  for (const Json& other : json.at("candidates")) made.candidates.push_back(culpritFrom(other));
  for (const Json& pair : json.at("evidence")) made.evidence.push_back(evidenceFrom(pair));
  // Documents of earlier versions have none.
  for (const Json& moved : json.value("counters", Json::array())) {
    made.counters.push_back(counterFrom(moved));
  }
  for (const Json& anomaly : json.value("anomalies", Json::array())) {
    made.anomalies.push_back(anomalyFrom(anomaly));
  }
  for (const auto& [label, value] : json.at("labels").items()) {
    made.labels[label] = value.get<std::string>();
  }
  for (const Json& past : json.at("history")) {
    made.history.push_back({timeFrom(past.at("at")),
                            enumFrom<Severity>(past.at("severity"), kSeverityNames),
                            past.at("sentence").get<std::string>()});
  }
}

Incident readIncident(const Json& json) {
  Incident made;
  made.id = idFrom(json.at("id"));
  made.culprit = culpritFrom(json);
  made.severity = enumFrom<Severity>(json.at("severity"), kSeverityNames);
  made.figure = enumFrom<Figure>(json.at("figure"), kFigureNames);
  made.opened_utc = timeFrom(json.at("opened"));
  made.updated_utc = timeFrom(json.at("updated"));
  made.closed_utc = timeFrom(json.at("closed"));
  made.flaps = json.at("flaps").get<std::uint32_t>();
  made.bad_pairs = json.at("pairs").at("bad").get<std::uint64_t>();
  made.judged_pairs = json.at("pairs").at("judged").get<std::uint64_t>();
  made.sentence = json.at("sentence").get<std::string>();
  made.tell = json.at("tell").is_null() ? "" : json.at("tell").get<std::string>();
  readLists(json, made);
  const Json& acknowledged = json.at("acknowledged");
  if (!acknowledged.is_null()) {
    made.acknowledged = {acknowledged.at("by").get<std::string>(),
                         acknowledged.at("comment").get<std::string>(),
                         timeFrom(acknowledged.at("at"))};
  }
  return made;
}

Silence readSilence(const Json& json) {
  Silence made;
  made.id = idFrom(json.at("id"));
  for (const auto& [label, value] : json.at("matchers").items()) {
    made.matchers[label] = value.get<std::string>();
  }
  made.created_utc = timeFrom(json.at("created"));
  made.until_utc = timeFrom(json.at("until"));
  made.by = json.at("by").get<std::string>();
  made.comment = json.at("comment").get<std::string>();
  return made;
}

Maintenance readMaintenance(const Json& json) {
  Maintenance made;
  made.host = json.at("host").get<std::string>();
  made.created_utc = timeFrom(json.at("created"));
  made.until_utc = json.at("until").is_null() ? kNever : timeFrom(json.at("until"));
  made.by = json.at("by").get<std::string>();
  made.comment = json.at("comment").get<std::string>();
  return made;
}

// nlohmann's accessors throw; nothing else of the program sees that.
template <typename Value>
Result<Value> readDocument(std::string_view text, std::string_view what,
                           Value (*read)(const Json& json)) {
  try {
    return read(Json::parse(text));
  } catch (const std::exception& error) {
    return makeError(what, fmt::format("malformed: {}", error.what()));
  }
}

}  // namespace

IncidentJson toJson(const Incident& incident) {
  Json json = {{"id", idText(incident.id)}};
  json.update(culpritJson(incident.culprit));
  json["severity"] = name(incident.severity);
  json["figure"] = name(incident.figure);
  json["opened"] = timeOrNull(incident.opened_utc);
  json["updated"] = timeOrNull(incident.updated_utc);
  json["closed"] = timeOrNull(incident.closed_utc);
  json["flaps"] = incident.flaps;
  json["probes"] = incident.probes;
  json["pairs"] = {{"bad", incident.bad_pairs}, {"judged", incident.judged_pairs}};
  json["sentence"] = incident.sentence;
  json["candidates"] = Json::array();
  for (const Culprit& other : incident.candidates) json["candidates"].push_back(culpritJson(other));
  json["tell"] = incident.tell.empty() ? Json() : Json(incident.tell);
  json["labels"] = Json::object();
  for (const auto& [label, value] : incident.labels) json["labels"][label] = value;
  json["acknowledged"] = Json();
  if (incident.acknowledged) {
    json["acknowledged"] = {{"by", incident.acknowledged->by},
                            {"comment", incident.acknowledged->comment},
                            {"at", timeOrNull(incident.acknowledged->utc)}};
  }
  json["silenced_by"] = incident.silenced_by == 0 ? Json() : Json(idText(incident.silenced_by));
  json["evidence"] = Json::array();
  for (const Evidence& pair : incident.evidence) json["evidence"].push_back(evidenceJson(pair));
  json["counters"] = Json::array();
  for (const MovedCounter& moved : incident.counters) {
    json["counters"].push_back(counterJson(moved));
  }
  json["anomalies"] = Json::array();
  for (const PageAnomaly& anomaly : incident.anomalies) {
    json["anomalies"].push_back(anomalyJson(anomaly));
  }
  json["history"] = Json::array();
  for (const PastSentence& past : incident.history) {
    json["history"].push_back({{"at", timeOrNull(past.utc)},
                               {"severity", name(past.severity)},
                               {"sentence", past.sentence}});
  }
  return json;
}

IncidentJson toJson(const Silence& silence) {
  Json json = {{"id", idText(silence.id)}, {"matchers", Json::object()}};
  for (const auto& [label, value] : silence.matchers) json["matchers"][label] = value;
  json["created"] = timeOrNull(silence.created_utc);
  json["until"] = timeOrNull(silence.until_utc);
  json["by"] = silence.by;
  json["comment"] = silence.comment;
  return json;
}

IncidentJson toJson(const Maintenance& maintenance) {
  return {{"host", maintenance.host},
          {"created", timeOrNull(maintenance.created_utc)},
          {"until", timeOrNull(maintenance.until_utc)},
          {"by", maintenance.by},
          {"comment", maintenance.comment},
          {"in_pinglist", maintenance.in_pinglist}};
}

IncidentJson toJson(const Verdict& verdict) {
  Json json = {{"open", Json::array()},
               {"recent", Json::array()},
               {"silences", Json::array()},
               {"maintenance", Json::array()},
               {"judged_pairs", verdict.judged_pairs},
               {"oldest_window", timeOrNull(verdict.oldest_window_utc)}};
  for (const auto& incident : verdict.open) json["open"].push_back(toJson(*incident));
  for (const auto& incident : verdict.recent) json["recent"].push_back(toJson(*incident));
  for (const Silence& silence : verdict.silences) json["silences"].push_back(toJson(silence));
  for (const Maintenance& at : verdict.maintenance) json["maintenance"].push_back(toJson(at));
  return json;
}

Result<Incident> incidentFrom(std::string_view json) {
  return readDocument<Incident>(json, "incident", readIncident);
}
Result<Silence> silenceFrom(std::string_view json) {
  return readDocument<Silence>(json, "silence", readSilence);
}
Result<Maintenance> maintenanceFrom(std::string_view json) {
  return readDocument<Maintenance>(json, "maintenance", readMaintenance);
}

}  // namespace pingloom::controller
