#include "controller/alerts/notifier.h"

#include <fmt/format.h>

#include <utility>
#include <vector>

#include "common/log.h"

namespace pingloom::controller {
namespace {

// An incident that is getting better may have no severity any more while it is still open.
bool worthTelling(Severity severity) { return severity >= Severity::kSlow; }

// Adds the severity that ends with this notification, and takes out the one that is back.
std::vector<EndedSeverity> endedAfter(const Told& told, Severity now_has, Nanos now_utc) {
  std::vector<EndedSeverity> made = told.ended;
  const Severity before = told.incident.severity;
  if (before != now_has) made.push_back({before, now_utc});
  std::erase_if(made, [&](const EndedSeverity& one) { return one.severity == now_has; });
  return made;
}

}  // namespace

void Notifier::look(const Verdict& verdict, Instant now) {
  std::set<std::string> seen;
  for (const auto& incident : verdict.open) {
    const std::string key = incidentKey(*incident);
    if (!seen.insert(key).second) continue;
    considerOpen(key, *incident, now);
  }
  for (const auto& incident : verdict.recent) {
    const std::string key = incidentKey(*incident);
    if (!seen.insert(key).second || told_.find(key) == nullptr) continue;
    tell(Occasion::kResolved, key, *incident, now);
  }
  resolveForgotten(seen, now);
}

void Notifier::considerOpen(const std::string& key, const Incident& incident, Instant now) {
  Told* const told = told_.find(key);
  const bool silenced = incident.silenced_by != 0;
  if (told == nullptr) {
    if (silenced || !target_.wants(incident)) return;
    resolveNamesake(key, incident, now);
    if (told_.full()) {
      if (!std::exchange(full_logged_, true)) {
        log::error("alerts target {}: there are more than {} incidents; it is told of no others",
                   target_.name, ToldIncidents::kMax);
      }
      return;
    }
    full_logged_ = false;
    tell(Occasion::kFiring, key, incident, now);
    return;
  }
  told->missing_mono = 0;
  if (const auto occasion = changeOf(*told, incident)) {
    tell(*occasion, key, incident, now);
    return;
  }
  const bool repeats = target_.kind == AlertKind::kAlertmanager;
  if (repeats && (told->told_mono == 0 || now.mono - told->told_mono >= kRepeat)) {
    tell(Occasion::kFiring, key, silenced ? told->incident : incident, now);
  }
}

std::optional<Occasion> Notifier::changeOf(const Told& told, const Incident& incident) const {
  if (incident.silenced_by != 0) return std::nullopt;
  const bool acknowledged = incident.acknowledged.has_value();
  const bool changed =
      worthTelling(incident.severity) && incident.severity != told.incident.severity;
  switch (target_.kind) {
    case AlertKind::kPagerduty:
      if (acknowledged && !told.incident.acknowledged) return Occasion::kAcknowledged;
      if (changed || acknowledged != told.incident.acknowledged.has_value()) {
        return Occasion::kFiring;
      }
      return std::nullopt;
    case AlertKind::kAlertmanager:
      break;
    case AlertKind::kWebhook:
    case AlertKind::kSlack:
    case AlertKind::kCommand:
      if (acknowledged) return std::nullopt;
      break;
  }
  return changed ? std::optional(Occasion::kFiring) : std::nullopt;
}

// Ids begin anew with a new ledger. Another incident of this id has ended then.
void Notifier::resolveNamesake(const std::string& key, const Incident& incident, Instant now) {
  std::vector<std::string> gone;
  for (const auto& [other_key, told] : told_.all()) {
    if (told.incident.id == incident.id && other_key != key) gone.push_back(other_key);
  }
  for (const std::string& other : gone) {
    Incident ended = told_.find(other)->incident;
    ended.closed_utc = now.utc;
    tell(Occasion::kResolved, other, std::move(ended), now);
  }
}

void Notifier::resolveForgotten(const std::set<std::string>& seen, Instant now) {
  std::vector<std::string> forgotten;
  for (auto& [key, told] : told_.all()) {
    if (seen.contains(key)) continue;
    if (told.missing_mono == 0) told.missing_mono = now.mono;
    if (now.mono - told.missing_mono >= kForgottenAfter) forgotten.push_back(key);
  }
  for (const std::string& key : forgotten) {
    Incident ended = told_.find(key)->incident;
    ended.closed_utc = now.utc;
    tell(Occasion::kResolved, key, std::move(ended), now);
  }
}

void Notifier::tell(Occasion occasion, const std::string& key, Incident incident, Instant now) {
  const Told* const before = told_.find(key);
  Notification made;
  made.occasion = occasion;
  made.made_utc = now.utc;
  made.key =
      fmt::format("{}-{}-{}", key, incident.flaps, before == nullptr ? 0 : before->notifications);
  if (before != nullptr) {
    if (occasion == Occasion::kResolved || !worthTelling(incident.severity)) {
      incident.severity = before->incident.severity;
    }
    made.ended = endedAfter(*before, incident.severity, now.utc);
  }
  made.incident = std::move(incident);
  tell_(made);
  if (occasion == Occasion::kResolved) {
    told_.forget(key);
    return;
  }
  Told told = remembered(occasion, before, made);
  told.told_mono = now.mono;
  if (auto kept = told_.keep(key, std::move(told)); !kept) {
    if (std::exchange(disk_logged_, true)) return;
    log::error("alerts target {}: {}; a restart may repeat notifications", target_.name,
               kept.error().text());
  } else {
    disk_logged_ = false;
  }
}

Told Notifier::remembered(Occasion occasion, const Told* before, const Notification& sent) const {
  Told told;
  told.incident = sent.incident;
  told.ended = sent.ended;
  told.notifications = (before == nullptr ? 0 : before->notifications) + 1;
  if (target_.kind != AlertKind::kPagerduty) return told;
  // An event tells PagerDuty either the severity or that somebody acknowledged. What it was not
  // told follows with the next look.
  if (occasion == Occasion::kAcknowledged) {
    told.incident.severity = before->incident.severity;
    told.ended = before->ended;
  } else if (before == nullptr || !before->incident.acknowledged) {
    told.incident.acknowledged.reset();
  }
  return told;
}

}  // namespace pingloom::controller
