#include "pinglist/plan_builder.h"

#include <algorithm>

#include "plan/plan_codec.h"

namespace pingloom::pinglist {
namespace {

struct Families {
  bool v4 = false;
  bool v6 = false;
};

Families familiesOf(const plan::AddressList& list) {  // REQUIRES: not empty; IPv4 sorts before IPv6
  return {list.front().isV4(), !list.back().isV4()};
}

}  // namespace

Status PlanBuilder::addMesh(const yaml::Node& place, plan::ProbeSpec spec, MemberList members) {
  spec.sources = spec.destinations = spec.name;
  if (auto status = add(place, spec); !status) return status;
  if (auto status = addList(place, spec.sources, std::move(members)); !status) return status;
  warnIfIdle(place, spec);
  return {};
}

Status PlanBuilder::addDirected(const yaml::Node& place, plan::ProbeSpec spec, MemberList from,
                                MemberList to) {
  spec.sources = spec.name + "/from";
  spec.destinations = spec.name + "/to";
  if (auto status = add(place, spec); !status) return status;
  if (auto status = addList(place, spec.sources, std::move(from)); !status) return status;
  if (auto status = addList(place, spec.destinations, std::move(to)); !status) return status;
  warnIfIdle(place, spec);
  return {};
}

Status PlanBuilder::add(const yaml::Node& place, const plan::ProbeSpec& spec) {
  if (!plan::validProbeName(spec.name)) {
    return place.error("'" + spec.name +
                       "' is no probe name: 1 to 64 characters of A-Z a-z 0-9 . _ - make one");
  }
  if (const auto [first, fresh] = places_.emplace(spec.name, place.place()); !fresh) {
    return place.error("probe '" + spec.name + "' is here twice; first at " + first->second);
  }
  if (plan_.probes.size() == plan::kMaxProbes) {
    return place.error("more than " + std::to_string(plan::kMaxProbes) + " probes");
  }
  plan_.probes.push_back(spec);
  return {};
}

Status PlanBuilder::addList(const yaml::Node& place, const std::string& name, MemberList members) {
  addresses_ += members.addresses.size();
  if (addresses_ > kMaxAddresses) {
    return place.error("the lists hold more than " + std::to_string(kMaxAddresses) +
                       " addresses together");
  }
  plan_.lists[name] = std::make_shared<const plan::AddressList>(std::move(members.addresses));
  if (!members.registered.empty()) registered_[name] = std::move(members.registered);
  return {};
}

void PlanBuilder::warnIfIdle(const yaml::Node& place, const plan::ProbeSpec& spec) {
  // Nobody knows yet who will register.
  if (registered_.contains(spec.sources) || registered_.contains(spec.destinations)) return;
  const plan::AddressList& from = plan_.list(spec.sources);
  const plan::AddressList& to = plan_.list(spec.destinations);
  const Families sources = familiesOf(from);
  const Families destinations = familiesOf(to);
  const bool common = (sources.v4 && destinations.v4) || (sources.v6 && destinations.v6);
  if (!common) {
    warnings_.add(place.place(), "probe '" + spec.name +
                                     "' has no pairs: its sources and destinations are of "
                                     "different address families");
  } else if (!spec.self && from.size() == 1 && to.size() == 1 && from == to) {
    warnings_.add(place.place(),
                  "probe '" + spec.name + "' has no pairs: it names one address only");
  }
}

}  // namespace pingloom::pinglist
