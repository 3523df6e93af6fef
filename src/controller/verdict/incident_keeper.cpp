#include "controller/verdict/incident_keeper.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>
#include <utility>

#include "common/json_text.h"
#include "controller/model/incident_json.h"
#include "controller/verdict/counter_evidence.h"
#include "controller/verdict/page_evidence.h"

namespace pingloom::controller {
namespace {

// The windows of all agents end together, and their reports arrive within a tenth of a window. So
// long a finding has to last. A close call waits for the next window, and one that is not settled
// for more.
constexpr Nanos kSettlesIn = 10;
constexpr Nanos kLeastSettling = 100 * kMillisecond;
constexpr Nanos kUnsettledWindows = 3;
// How many windows without the finding close its incident, and at least how long.
constexpr Nanos kGone = 2;
constexpr Nanos kMinGone = 2 * kSecond;
// How many windows of less severe findings lower an incident's severity.
constexpr Nanos kLower = 5;

Nanos lastsFor(const Finding& finding) {
  if (!finding.settled) return kUnsettledWindows * finding.window;
  if (finding.culprit.kind == CulpritKind::kAgent) return 0;
  const Nanos settling = std::max(finding.window / kSettlesIn, kLeastSettling);
  return finding.close_call ? finding.window + settling : settling;
}

bool structureDiffers(const Incident& incident, const Finding& finding) {
  return incident.culprit != finding.culprit || incident.severity != finding.severity ||
         incident.figure != finding.figure || incident.probes != finding.probes ||
         (incident.counters.empty() && !finding.counters.empty()) ||
         (incident.anomalies.empty() && !finding.anomalies.empty());
}

void remember(Incident& incident, Nanos utc) {
  if (!incident.history.empty() && incident.history.back().severity == incident.severity &&
      incident.history.back().sentence == incident.sentence) {
    return;
  }
  // The first sentence stays, because it tells how it began.
  if (incident.history.size() == Incident::kMaxHistory) {
    incident.history.erase(incident.history.begin() + 1);
  }
  incident.history.push_back({utc, incident.severity, incident.sentence});
}

Status checkText(std::string_view what, const std::string& text) {
  if (text.size() <= IncidentKeeper::kMaxTextBytes) return {};
  return makeError(what, fmt::format("is longer than {} bytes", IncidentKeeper::kMaxTextBytes));
}

}  // namespace

void IncidentKeeper::restore(const std::vector<VerdictRecord>& records, Instant now) {
  for (const VerdictRecord& record : records) {
    if (record.kind == VerdictRecord::Kind::kIncident) {
      auto incident = incidentFrom(record.document);
      if (!incident) continue;
      last_id_ = std::max(last_id_, incident->id);
      const std::string entity = entityOf(incident->culprit);
      if (!incident->open()) {
        if (incident->closed_utc + kReopen > now.utc) closed_[entity] = std::move(*incident);
        continue;
      }
      Tracked& tracked = tracked_[entity];
      tracked.incident = std::move(*incident);
      tracked.first_seen_mono = now.mono;
      tracked.last_seen_mono = now.mono + kGrace;
      tracked.open = true;
    } else if (record.kind == VerdictRecord::Kind::kSilence) {
      auto silence = silenceFrom(record.document);
      if (!silence) continue;
      last_id_ = std::max(last_id_, silence->id);
      silences_[silence->id] = std::move(*silence);
    } else if (auto maintenance = maintenanceFrom(record.document)) {
      maintenance_[maintenance->host] = std::move(*maintenance);
    }
  }
  changed_ = true;
}

void IncidentKeeper::update(std::vector<Finding> findings, Instant now) {
  for (Finding& finding : findings) see(std::move(finding), now);
  for (auto at = tracked_.begin(); at != tracked_.end();) {
    Tracked& tracked = at->second;
    const Nanos gone = std::max(kGone * tracked.window, kMinGone);
    const Nanos unseen = now.mono - tracked.last_seen_mono;
    // While a window's reports arrive, the other culprit of a close call may be named for a moment.
    const bool may_return = tracked.close_call && unseen < tracked.window;
    if (unseen <= 0 || may_return || (tracked.open && unseen < gone)) {
      ++at;
      continue;
    }
    if (tracked.open) {
      close(tracked, now);
      closed_[at->first] = std::move(tracked.incident);
    }
    at = tracked_.erase(at);
  }
  expire(now);
  applySilences(now);
}

void IncidentKeeper::see(Finding finding, Instant now) {
  const auto found = tracked_.find(finding.entity);
  if (found == tracked_.end() && tracked_.size() >= kMaxOpen) return;
  // What is only not forgiven yet keeps an incident open, and is no reason to open one: it is what
  // is left of something larger.
  const bool open_already = found != tracked_.end() && found->second.open;
  if (!finding.shows && !open_already) return;
  const std::string entity = finding.entity;
  Tracked& tracked = found == tracked_.end() ? tracked_[entity] : found->second;
  if (tracked.first_seen_mono == 0) tracked.first_seen_mono = now.mono;
  tracked.last_seen_mono = std::max(tracked.last_seen_mono, now.mono);
  tracked.window = finding.window;
  tracked.close_call = finding.close_call;
  const bool lasted = now.mono - tracked.first_seen_mono >= lastsFor(finding);
  refresh(tracked, std::move(finding), now);
  if (!tracked.open && lasted) open(tracked, entity, now);
}

void IncidentKeeper::refresh(Tracked& tracked, Finding finding, Instant now) {
  Incident& incident = tracked.incident;
  // What is only not forgiven yet says nothing new; its figures are those of well windows.
  if (!finding.shows) return;
  // A severity rises at once and falls after some windows.
  if (tracked.open && finding.severity < incident.severity) {
    if (tracked.lower_since_mono == 0) tracked.lower_since_mono = now.mono;
    if (now.mono - tracked.lower_since_mono < kLower * finding.window) {
      return;
    }
  }
  tracked.lower_since_mono = 0;
  takeEvidenceOfHosts(tracked, finding, now);
  const bool differs = structureDiffers(incident, finding);
  if (tracked.open && !differs && now.mono - tracked.refreshed_mono < kRefresh) return;
  tracked.refreshed_mono = now.mono;
  incident.culprit = std::move(finding.culprit);
  incident.severity = finding.severity;
  incident.figure = finding.figure;
  incident.probes = std::move(finding.probes);
  incident.bad_pairs = finding.bad_pairs;
  incident.judged_pairs = finding.judged_pairs;
  incident.counters = std::move(finding.counters);
  incident.anomalies = std::move(finding.anomalies);
  const auto host = finding.labels.find("host");
  incident.sentence =
      finding.sentence + clauseOf(incident.counters, tracked.open ? incident.opened_utc : now.utc) +
      clauseOf(incident.anomalies, host == finding.labels.end() ? "" : host->second);
  incident.candidates = std::move(finding.candidates);
  incident.tell = std::move(finding.tell);
  incident.evidence = std::move(finding.evidence);
  incident.labels = std::move(finding.labels);
  if (!tracked.open) return;
  incident.updated_utc = now.utc;
  changed_ = true;
  if (!differs) return;
  remember(incident, now.utc);
  keep(incident);
}

// What was noticed around the opening stays the evidence, although minutes later it counts as old.
void IncidentKeeper::takeEvidenceOfHosts(Tracked& tracked, Finding& finding, Instant now) {
  if (!tracked.open) return;
  const Incident& incident = tracked.incident;
  const bool watching = now.utc - incident.opened_utc < kHostWatch;
  if (!watching || finding.counters.empty()) finding.counters = incident.counters;
  if (!watching || finding.anomalies.empty()) finding.anomalies = incident.anomalies;
}

void IncidentKeeper::open(Tracked& tracked, const std::string& entity, Instant now) {
  tracked.open = true;
  Incident& incident = tracked.incident;
  const auto before = closed_.find(entity);
  if (before != closed_.end()) {
    Incident& old = before->second;
    incident.id = old.id;
    incident.opened_utc = old.opened_utc;
    incident.flaps = old.flaps + 1;
    incident.history = std::move(old.history);
    incident.acknowledged = std::move(old.acknowledged);
    closed_.erase(before);
  } else {
    incident.id = ++last_id_;
    incident.opened_utc = now.utc;
  }
  incident.updated_utc = now.utc;
  remember(incident, now.utc);
  keep(incident);
  changed_ = true;
}

void IncidentKeeper::close(Tracked& tracked, Instant now) {
  tracked.incident.closed_utc = now.utc;
  tracked.incident.updated_utc = now.utc;
  keep(tracked.incident);
  changed_ = true;
}

void IncidentKeeper::expire(Instant now) {
  const auto forget = [this](auto& from, auto expired) {
    changed_ = std::erase_if(from, expired) > 0 || changed_;
  };
  forget(closed_, [&](const auto& at) { return at.second.closed_utc + kReopen <= now.utc; });
  forget(silences_, [&](const auto& at) {
    const bool over = at.second.until_utc <= now.utc;
    if (over) records_.push_back({VerdictRecord::Kind::kSilence, fmt::format("{}", at.first)});
    return over;
  });
  forget(maintenance_, [&](const auto& at) {
    const bool over = at.second.until_utc <= now.utc;
    if (over) records_.push_back({VerdictRecord::Kind::kMaintenance, at.first});
    return over;
  });
}

void IncidentKeeper::applySilences(Instant now) {
  for (auto& [entity, tracked] : tracked_) {
    if (!tracked.open) continue;
    std::uint64_t by = 0;
    for (const auto& [id, silence] : silences_) {
      if (by == 0 && silences(silence, tracked.incident, now.utc)) by = id;
    }
    if (std::exchange(tracked.incident.silenced_by, by) != by) changed_ = true;
  }
}

Result<Incident> IncidentKeeper::acknowledge(std::uint64_t id,
                                             std::optional<Acknowledgement> acknowledgement,
                                             Instant now) {
  const auto found = std::find_if(tracked_.begin(), tracked_.end(), [id](const auto& at) {
    return at.second.open && at.second.incident.id == id;
  });
  if (found == tracked_.end()) {
    return makeError(fmt::format("incident {}", id), "is not open");
  }
  if (acknowledgement) {
    acknowledgement->utc = now.utc;
    if (auto status = checkText("by", acknowledgement->by); !status) {
      return tl::unexpected(status.error());
    }
    if (auto status = checkText("comment", acknowledgement->comment); !status) {
      return tl::unexpected(status.error());
    }
  }
  Incident& incident = found->second.incident;
  incident.acknowledged = std::move(acknowledgement);
  incident.updated_utc = now.utc;
  keep(incident);
  changed_ = true;
  return incident;
}

Result<Silence> IncidentKeeper::addSilence(Silence silence, Instant now) {
  if (silences_.size() >= kMaxSilences) {
    return makeError("silence", fmt::format("there are {} already; remove some", kMaxSilences));
  }
  if (silence.until_utc <= now.utc) return makeError("until", "is not in the future");
  if (silence.matchers.empty()) return makeError("matchers", "are missing");
  for (const auto* text : {&silence.by, &silence.comment}) {
    if (auto status = checkText("by or comment", *text); !status) {
      return tl::unexpected(status.error());
    }
  }
  for (const auto& [label, value] : silence.matchers) {
    if (auto status = checkText("matcher", label + value); !status) {
      return tl::unexpected(status.error());
    }
  }
  silence.id = ++last_id_;
  silence.created_utc = now.utc;
  silences_[silence.id] = silence;
  keep(silence);
  applySilences(now);
  changed_ = true;
  return silence;
}

Status IncidentKeeper::removeSilence(std::uint64_t id, Instant now) {
  if (silences_.erase(id) == 0) return makeError(fmt::format("silence {}", id), "does not exist");
  records_.push_back({VerdictRecord::Kind::kSilence, fmt::format("{}", id)});
  applySilences(now);
  changed_ = true;
  return {};
}

Result<Maintenance> IncidentKeeper::beginMaintenance(Maintenance maintenance, Instant now) {
  if (maintenance_.size() >= kMaxMaintenance) return makeError("maintenance", "of too many hosts");
  if (maintenance.until_utc <= now.utc) return makeError("until", "is not in the future");
  for (const auto* text : {&maintenance.host, &maintenance.by, &maintenance.comment}) {
    if (auto status = checkText("host, by or comment", *text); !status) {
      return tl::unexpected(status.error());
    }
  }
  maintenance.created_utc = now.utc;
  maintenance_[maintenance.host] = maintenance;
  records_.push_back({VerdictRecord::Kind::kMaintenance, maintenance.host, now.utc,
                      maintenance.until_utc, jsonLine(toJson(maintenance))});
  changed_ = true;
  return maintenance;
}

Status IncidentKeeper::endMaintenance(const std::string& host) {
  if (maintenance_.erase(host) == 0) {
    return makeError("host '" + host + "'", "is not in maintenance by hand");
  }
  records_.push_back({VerdictRecord::Kind::kMaintenance, host});
  changed_ = true;
  return {};
}

Verdict IncidentKeeper::verdict() {
  Verdict made;
  for (const auto& [entity, tracked] : tracked_) {
    if (tracked.open) made.open.push_back(std::make_shared<const Incident>(tracked.incident));
  }
  std::sort(made.open.begin(), made.open.end(), [](const auto& a, const auto& b) {
    return std::tuple(b->severity, a->opened_utc, a->id) <
           std::tuple(a->severity, b->opened_utc, b->id);
  });
  for (const auto& [entity, incident] : closed_) {
    made.recent.push_back(std::make_shared<const Incident>(incident));
  }
  std::sort(made.recent.begin(), made.recent.end(), [](const auto& a, const auto& b) {
    return std::tuple(b->closed_utc, b->id) < std::tuple(a->closed_utc, a->id);
  });
  if (made.recent.size() > Verdict::kMaxRecent) made.recent.resize(Verdict::kMaxRecent);
  for (const auto& [id, silence] : silences_) made.silences.push_back(silence);
  for (const auto& [host, maintenance] : maintenance_) made.maintenance.push_back(maintenance);
  changed_ = false;
  return made;
}

std::vector<VerdictRecord> IncidentKeeper::takeRecords() { return std::exchange(records_, {}); }

void IncidentKeeper::keep(const Incident& incident) {
  records_.push_back({VerdictRecord::Kind::kIncident, fmt::format("{}", incident.id),
                      incident.opened_utc, incident.closed_utc, jsonLine(toJson(incident))});
}

void IncidentKeeper::keep(const Silence& silence) {
  records_.push_back({VerdictRecord::Kind::kSilence, fmt::format("{}", silence.id),
                      silence.created_utc, silence.until_utc, jsonLine(toJson(silence))});
}

}  // namespace pingloom::controller
