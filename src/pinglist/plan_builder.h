// Builds a plan from the probes of a pinglist in either form, and checks the plan as a whole:
// duplicate names, bounds, probes without pairs. One thread.
#pragma once

#include <cstddef>
#include <map>
#include <string>

#include "common/error.h"
#include "common/yaml.h"
#include "pinglist/address_list.h"
#include "pinglist/pinglist.h"
#include "pinglist/warnings.h"
#include "plan/plan.h"

namespace pingloom::pinglist {

class PlanBuilder {
 public:
  // The limit for all lists together; an address takes 16 bytes in memory and is sent to every
  // agent.
  static constexpr std::size_t kMaxAddresses = 1 << 24;

  explicit PlanBuilder(Warnings& warnings) : warnings_(warnings) {}

  // `place` is the position of the probe's name. The builder sets the spec's list names.
  Status addMesh(const yaml::Node& place, plan::ProbeSpec spec, MemberList members);
  Status addDirected(const yaml::Node& place, plan::ProbeSpec spec, MemberList from, MemberList to);

  // Moves the plan, and the entries `registered` of its lists.
  void moveTo(Pinglist& pinglist) {
    pinglist.plan = std::move(plan_);
    pinglist.registered = std::move(registered_);
  }

 private:
  Status add(const yaml::Node& place, const plan::ProbeSpec& spec);
  Status addList(const yaml::Node& place, const std::string& name, MemberList members);
  void warnIfIdle(const yaml::Node& place, const plan::ProbeSpec& spec);

  Warnings& warnings_;
  plan::Plan plan_;
  std::map<std::string, std::vector<RegisteredFilter>> registered_;
  std::map<std::string, std::string> places_;  // positions of the probes' names
  std::size_t addresses_ = 0;
};

}  // namespace pingloom::pinglist
