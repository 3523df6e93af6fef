// Remembers across restarts of the controller which agents have registered; these are what the
// pinglist's entries `registered` stand for. New agents, and agents with new addresses, become
// members together after kSettle, so that a hundred hosts that start at once cause a few plans and
// not a hundred. The members are kept on disk. Thus the first plan after a restart of the
// controller is the last one before it, and no pair leaves the plan because its agent has not
// registered again yet.
// Bounds: Registry::kMaxAgents members. The control thread uses it.
#pragma once

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "common/time.h"
#include "controller/control/registry.h"
#include "pinglist/members.h"

namespace pingloom::controller {

class Membership {
 public:
  static constexpr Nanos kSettle = kSecond;
  // The longest pause between two plans. To put a plan of a large mesh in force takes a while, and
  // the pause is ten times as long.
  static constexpr Nanos kMaxPause = kMinute;
  // How often at least the members are checked for agents that have been away for too long.
  static constexpr Nanos kMaxLook = 10 * kSecond;

  // Reads the members of the last run. Those that were present then count as heard at `now`.
  Membership(std::filesystem::path file, Instant now);

  // Notes that agents came, went or changed.
  void changed(Instant now) { due_mono_ = std::min(due_mono_, now.mono + pause_); }
  // Takes the registry's agents as members, and forgets those that have been away for longer than
  // `forget` in the registry too; 0 forgets nobody. Returns true if the plan may have changed.
  bool runDue(Registry& registry, Nanos forget, Instant now);
  // Tells how long it took to put the last change in force.
  void tookToApply(Nanos duration);
  Nanos nextDue() const { return due_mono_; }

  const std::vector<pinglist::Member>& members() const { return members_; }

 private:
  using Members = std::vector<pinglist::Member>;
  void load(Instant now);
  void save();
  Members merged(const Registry& registry, Instant now) const;

  const std::filesystem::path file_;
  Members members_;  // ordered by host
  Nanos due_mono_ = 0;
  Nanos pause_ = kSettle;
  bool failure_logged_ = false;
};

}  // namespace pingloom::controller
