#include "agent/work.h"

#include <algorithm>
#include <utility>

namespace pingloom::agent {

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
  known_sources_ = std::make_shared<const plan::AddressList>(plan::allAddresses(plan));
}

probe::Work WorkList::of(Protocol protocol) const {
  probe::Work work;
  work.known_sources = known_sources_;
  for (const auto& assignment : assignments_) {
    if (assignment->probe.protocol == protocol) work.assignments.push_back(assignment);
  }
  return work;
}

std::size_t WorkList::targets(Protocol protocol) const {
  std::size_t pairs = 0;
  for (const auto& assignment : assignments_) {
    if (assignment->probe.protocol == protocol) pairs += assignment->destinations.size();
  }
  return pairs;
}

}  // namespace pingloom::agent
