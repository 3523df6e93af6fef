#include "agent/work.h"

#include <algorithm>
#include <utility>

namespace pingloom::agent {
namespace {

bool names(const plan::Plan& plan, const plan::ProbeSpec& probe, const IpAddress& address) {
  const auto& sources = plan.list(probe.sources);
  const auto& destinations = plan.list(probe.destinations);
  return std::binary_search(sources.begin(), sources.end(), address) ||
         std::binary_search(destinations.begin(), destinations.end(), address);
}

}  // namespace

void WorkList::update(const plan::Plan& plan, const std::vector<IpAddress>& own_addresses) {
  std::vector<std::shared_ptr<const plan::Assignment>> next;
  for (plan::Assignment& made : plan::assignmentsOf(plan, own_addresses)) {
    const auto same = std::find_if(assignments_.begin(), assignments_.end(), [&](const auto& old) {
      return old->source == made.source && old->probe == made.probe &&
             old->destinations == made.destinations;
    });
    next.push_back(same != assignments_.end()
                       ? *same
                       : std::make_shared<const plan::Assignment>(std::move(made)));
  }
  assignments_ = std::move(next);
  own_.clear();
  for (const plan::ProbeSpec& probe : plan.probes) {
    plan::AddressList& own = own_[probe.protocol];
    for (const IpAddress& address : own_addresses) {
      if (!names(plan, probe, address)) continue;
      if (std::find(own.begin(), own.end(), address) == own.end()) own.push_back(address);
    }
  }
  known_sources_ = std::make_shared<const plan::AddressList>(plan::allAddresses(plan));
}

probe::Work WorkList::of(Protocol protocol) const {
  probe::Work work;
  work.known_sources = known_sources_;
  if (const auto own = own_.find(protocol); own != own_.end()) work.own = own->second;
  for (const auto& assignment : assignments_) {
    if (assignment->probe.protocol == protocol) work.assignments.push_back(assignment);
  }
  return work;
}

std::shared_ptr<const plan::Assignment> WorkList::find(const std::string& probe,
                                                       const IpAddress& source) const {
  const auto found =
      std::find_if(assignments_.begin(), assignments_.end(), [&](const auto& assignment) {
        return assignment->source == source && assignment->probe.name == probe;
      });
  return found == assignments_.end() ? nullptr : *found;
}

std::size_t WorkList::targets(Protocol protocol) const {
  std::size_t pairs = 0;
  for (const auto& assignment : assignments_) {
    if (assignment->probe.protocol == protocol) pairs += assignment->destinations.size();
  }
  return pairs;
}

}  // namespace pingloom::agent
