#include "agent/work.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

namespace pingloom::agent {
namespace {

bool names(const plan::Plan& plan, const plan::ProbeSpec& probe, const IpAddress& address) {
  const auto& sources = plan.list(probe.sources);
  const auto& destinations = plan.list(probe.destinations);
  return std::binary_search(sources.begin(), sources.end(), address) ||
         std::binary_search(destinations.begin(), destinations.end(), address);
}

constexpr std::array kProtocols = {Protocol::kUdp, Protocol::kTcp, Protocol::kRdma};

// Returns how many pings a second each source of the probe sends to these addresses.
double rateTo(const plan::Plan& plan, const plan::ProbeSpec& probe,
              const std::vector<IpAddress>& own_addresses) {
  const auto& destinations = plan.list(probe.destinations);
  const auto targets =
      std::count_if(own_addresses.begin(), own_addresses.end(), [&](const IpAddress& address) {
        return std::binary_search(destinations.begin(), destinations.end(), address);
      });
  return static_cast<double>(targets) * std::max<std::uint32_t>(probe.paths, 1) *
         static_cast<double>(kSecond) / static_cast<double>(probe.interval);
}

// `known` are all addresses of the plan.
probe::Guests guestsOf(const plan::Plan& plan, Protocol protocol, const plan::AddressList& known,
                       const std::vector<IpAddress>& own_addresses) {
  std::vector<double> rates(known.size());
  for (const plan::ProbeSpec& probe : plan.probes) {
    if (probe.protocol != protocol) continue;
    const double rate = rateTo(plan, probe, own_addresses);
    if (rate == 0) continue;
    auto at = known.begin();  // both lists ascend
    for (const IpAddress& source : plan.list(probe.sources)) {
      at = std::lower_bound(at, known.end(), source);
      rates[static_cast<std::size_t>(at - known.begin())] += rate;
    }
  }
  probe::Guests guests;
  guests.reserve(known.size());
  for (std::size_t i = 0; i < known.size(); ++i) {
    const double rate = std::min<double>(std::ceil(rates[i]), probe::GuestList::kMaxRate);
    guests.push_back({known[i], static_cast<std::uint32_t>(rate)});
  }
  return guests;
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
  const plan::AddressList known = plan::allAddresses(plan);
  for (const Protocol protocol : kProtocols) {
    guests_[protocol] =
        std::make_shared<const probe::Guests>(guestsOf(plan, protocol, known, own_addresses));
  }
}

probe::Work WorkList::of(Protocol protocol) const {
  probe::Work work;
  if (const auto guests = guests_.find(protocol); guests != guests_.end()) {
    work.known_sources = guests->second;
  }
  if (const auto own = own_.find(protocol); own != own_.end()) work.own = own->second;
  for (const auto& assignment : assignments_) {
    if (assignment->probe.protocol == protocol) work.assignments.push_back(assignment);
  }
  return work;
}

std::shared_ptr<const plan::Assignment> WorkList::find(const std::string& probe,
                                                       const IpAddress& source,
                                                       const IpAddress& destination) const {
  const auto found =
      std::find_if(assignments_.begin(), assignments_.end(), [&](const auto& assignment) {
        return assignment->source == source && assignment->probe.name == probe &&
               plan::contains(assignment->destinations, destination);
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
