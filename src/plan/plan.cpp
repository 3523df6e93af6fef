#include "plan/plan.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "plan/sampling.h"

namespace pingloom::plan {
namespace {

class Fnv1a {
 public:
  void add(std::string_view bytes) {
    addNumber(bytes.size());
    for (const char byte : bytes) addByte(static_cast<std::uint8_t>(byte));
  }
  void addNumber(std::uint64_t number) {
    for (int shift = 0; shift < 64; shift += 8) addByte(static_cast<std::uint8_t>(number >> shift));
  }
  std::uint64_t value() const { return state_ == 0 ? 1 : state_; }

 private:
  void addByte(std::uint8_t byte) { state_ = (state_ ^ byte) * 0x100000001b3ULL; }
  std::uint64_t state_ = 0xcbf29ce484222325ULL;
};

// Adds the assignment without the pairs that do not exist.
void addWork(Assignment&& assignment, std::vector<Assignment>& made) {
  const IpAddress own = assignment.source;
  if (!assignment.probe.self) std::erase(assignment.destinations, own);
  // A pair never crosses address families, because there is no route between them.
  std::erase_if(assignment.destinations,
                [&](const IpAddress& to) { return to.isV4() != own.isV4(); });
  if (!assignment.destinations.empty()) made.push_back(std::move(assignment));
}

void addSampled(const Plan& plan, const ProbeSpec& probe, const IpAddress& own,
                const Targets& targets, std::vector<Assignment>& made) {
  const AddressList& members = plan.list(probe.destinations);
  const auto at = std::lower_bound(members.begin(), members.end(), own);
  if (at == members.end() || *at != own) return;
  const auto source = static_cast<std::uint32_t>(at - members.begin());
  Assignment group{probe, own, {}};
  group.probe.groups.clear();
  group.probe.extra.clear();
  Assignment across = group;
  group.probe.paths = 1;
  for (const std::uint32_t target : targets.of(source)) {
    const bool within = probe.paths > 1 && targets.together(source, target);
    (within ? group : across).destinations.push_back(members[target]);
  }
  addWork(std::move(group), made);
  addWork(std::move(across), made);
}

}  // namespace

bool contains(const AddressList& list, const IpAddress& address) {
  return std::binary_search(list.begin(), list.end(), address);
}

const AddressList& Plan::list(const std::string& name) const {
  static const AddressList empty;
  const auto found = lists.find(name);
  return found == lists.end() ? empty : *found->second;
}

std::uint64_t hash(const Plan& plan) {
  Fnv1a sum;
  for (const ProbeSpec& probe : plan.probes) {
    sum.add(probe.name);
    sum.addNumber(static_cast<std::uint64_t>(probe.protocol));
    sum.add(probe.sources);
    sum.add(probe.destinations);
    for (const std::uint64_t number :
         {std::uint64_t{probe.self}, static_cast<std::uint64_t>(probe.interval),
          static_cast<std::uint64_t>(probe.timeout), static_cast<std::uint64_t>(probe.window),
          std::uint64_t{probe.traffic_class}, std::uint64_t{probe.payload},
          std::uint64_t{probe.port}}) {
      sum.addNumber(number);
    }
    // A plan with one path per pair has the same hash as before probes had paths.
    if (probe.paths != 1) sum.addNumber(probe.paths);
    if (probe.service_level) {
      sum.add("service_level");
      sum.addNumber(*probe.service_level);
    }
    if (probe.gid_index) {
      sum.add("gid_index");
      sum.addNumber(*probe.gid_index);
    }
    if (probe.across != 0) {
      sum.add("across");
      sum.addNumber(probe.across);
      for (const std::string& group : probe.groups) sum.add(group);
      for (const auto& [source, destination] : probe.extra) {
        sum.add(source.wire());
        sum.add(destination.wire());
      }
    }
  }
  for (const auto& [name, list] : plan.lists) {
    sum.add(name);
    sum.addNumber(list->size());
    for (const IpAddress& address : *list) sum.add(address.wire());
  }
  return sum.value();
}

std::vector<Assignment> assignmentsOf(const Plan& plan,
                                      const std::vector<IpAddress>& own_addresses) {
  std::vector<Assignment> made;
  for (const ProbeSpec& probe : plan.probes) {
    const AddressList& sources = plan.list(probe.sources);
    std::shared_ptr<const Targets> targets;
    for (const IpAddress& own : own_addresses) {
      if (!contains(sources, own)) continue;
      if (probe.across != 0) {
        if (targets == nullptr) targets = targetsOf(plan, probe);
        addSampled(plan, probe, own, *targets, made);
        continue;
      }
      addWork({probe, own, plan.list(probe.destinations)}, made);
    }
  }
  return made;
}

AddressList allAddresses(const Plan& plan) {
  AddressList all;
  for (const auto& [name, list] : plan.lists) all.insert(all.end(), list->begin(), list->end());
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return all;
}

}  // namespace pingloom::plan
