#include "controller/model/incident.h"

#include <algorithm>

namespace pingloom::controller {
namespace {

bool hasLabel(const Incident& incident, const std::string& label, const std::string& value) {
  if (label == "culprit") return incident.culprit.name == value;
  if (label == "kind") return name(incident.culprit.kind) == value;
  if (label == "severity") return name(incident.severity) == value;
  if (label == "probe") {
    return std::find(incident.probes.begin(), incident.probes.end(), value) !=
           incident.probes.end();
  }
  const auto found = incident.labels.find(label);
  return found != incident.labels.end() && found->second == value;
}

// A pair's name is "a -> b", or "a <-> b" where both directions are meant.
std::string pairEntity(const std::string& name) {
  std::string_view arrow = " <-> ";
  std::size_t at = name.find(arrow);
  if (at == std::string::npos) {
    arrow = " -> ";
    at = name.find(arrow);
  }
  if (at == std::string::npos) return "pair:" + name;
  const std::string from = name.substr(0, at);
  const std::string to = name.substr(at + arrow.size());
  return "pair:" + std::min(from, to) + "|" + std::max(from, to);
}

// A direction and its cable are one thing: "a -> b" and "a - b".
std::string linkEntity(const std::string& name) {
  for (const std::string_view between : {" -> ", " - "}) {
    const std::size_t at = name.find(between);
    if (at == std::string::npos) continue;
    const std::string from = name.substr(0, at);
    const std::string to = name.substr(at + between.size());
    return "cable:" + std::min(from, to) + "|" + std::max(from, to);
  }
  return "cable:" + name;
}

}  // namespace

std::string entityOf(const Culprit& culprit) {
  switch (culprit.kind) {
    case CulpritKind::kHost:
    case CulpritKind::kHostSend:
    case CulpritKind::kHostReceive:
    case CulpritKind::kHostCpu:
    case CulpritKind::kAgent:
      return "host:" + culprit.name;
    case CulpritKind::kAddress:
    case CulpritKind::kAddressSend:
    case CulpritKind::kAddressReceive:
      return "address:" + culprit.name;
    case CulpritKind::kGroup:
      return "group:" + culprit.name;
    case CulpritKind::kProbe:
      return "probe:" + culprit.name;
    case CulpritKind::kLink:
    case CulpritKind::kCable:
      return linkEntity(culprit.name);
    case CulpritKind::kSwitch:
      return "switch:" + culprit.name;
    case CulpritKind::kPair:
      break;
  }
  return pairEntity(culprit.name);
}

bool silences(const Silence& silence, const Incident& incident, Nanos now_utc) {
  if (silence.until_utc <= now_utc || silence.matchers.empty()) return false;
  return std::all_of(silence.matchers.begin(), silence.matchers.end(),
                     [&incident](const auto& matcher) {
                       return hasLabel(incident, matcher.first, matcher.second);
                     });
}

}  // namespace pingloom::controller
