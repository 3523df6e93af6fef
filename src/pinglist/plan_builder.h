// Puts the probes of a pinglist together to a plan, whichever form they were written in, and checks
// what concerns the plan as a whole: names used twice, bounds, probes that would do nothing.
// One thread.
#pragma once

#include <cstddef>
#include <map>
#include <string>

#include "common/error.h"
#include "common/yaml.h"
#include "pinglist/warnings.h"
#include "plan/plan.h"

namespace pingloom::pinglist {

class PlanBuilder {
 public:
  // Of all lists together: 16 bytes each in memory, on the way to every agent.
  static constexpr std::size_t kMaxAddresses = 1 << 24;

  explicit PlanBuilder(Warnings& warnings) : warnings_(warnings) {}

  // `place` is where the probe's name stands. The spec's list names are set here.
  Status addMesh(const yaml::Node& place, plan::ProbeSpec spec, plan::AddressList members);
  Status addDirected(const yaml::Node& place, plan::ProbeSpec spec, plan::AddressList from,
                     plan::AddressList to);

  plan::Plan take() { return std::move(plan_); }

 private:
  Status add(const yaml::Node& place, const plan::ProbeSpec& spec);
  Status addList(const yaml::Node& place, const std::string& name, plan::AddressList list);
  void warnIfIdle(const yaml::Node& place, const plan::ProbeSpec& spec);

  Warnings& warnings_;
  plan::Plan plan_;
  std::map<std::string, std::string> places_;  // of probe names
  std::size_t addresses_ = 0;
};

}  // namespace pingloom::pinglist
