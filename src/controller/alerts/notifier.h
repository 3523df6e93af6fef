// Decides what a target is told about each incident. docs/alerts.md has the rules. One thread; time
// is passed in.
#pragma once

#include <functional>
#include <optional>
#include <set>
#include <string>

#include "common/time.h"
#include "controller/alerts/target.h"
#include "controller/alerts/told.h"
#include "controller/model/incident.h"

namespace pingloom::controller {

class Notifier {
 public:
  static constexpr Nanos kRepeat = kMinute;  // for an alertmanager
  // An incident that no verdict has any more, and that was not closed, counts as closed after this
  // time. A verdict may lack incidents until the controller has judged anew after a start.
  static constexpr Nanos kForgottenAfter = 5 * kMinute;
  using Tell = std::function<void(const Notification&)>;

  // `tell` has to keep the notification. REQUIRES: `target` outlives the notifier.
  Notifier(const AlertTarget& target, ToldIncidents told, Tell tell)
      : target_(target), told_(std::move(told)), tell_(std::move(tell)) {}

  void look(const Verdict& verdict, Instant now);

 private:
  void considerOpen(const std::string& key, const Incident& incident, Instant now);
  std::optional<Occasion> changeOf(const Told& told, const Incident& incident) const;
  void resolveNamesake(const std::string& key, const Incident& incident, Instant now);
  void resolveForgotten(const std::set<std::string>& seen, Instant now);
  void tell(Occasion occasion, const std::string& key, Incident incident, Instant now);
  Told remembered(Occasion occasion, const Told* before, const Notification& sent) const;

  const AlertTarget& target_;
  ToldIncidents told_;
  Tell tell_;
  bool full_logged_ = false;
  bool disk_logged_ = false;
};

}  // namespace pingloom::controller
