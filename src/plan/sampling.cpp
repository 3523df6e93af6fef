#include "plan/sampling.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "plan/mix.h"

namespace pingloom::plan {
namespace {

// A destination that suits none of so many waiting sources gets none in this round.
constexpr std::size_t kMaxTries = 32;

// The same on every machine, unlike std::hash.
std::uint64_t hashOf(const IpAddress& address) {
  std::uint64_t state = 0xcbf29ce484222325;
  for (const char byte : address.wire()) {
    state = (state ^ static_cast<std::uint8_t>(byte)) * 0x100000001b3;
  }
  return mix(state);
}

class Sampler {
 public:
  Sampler(std::span<const IpAddress> members, std::span<const std::uint32_t> groups,
          std::uint32_t across)
      : groups_(groups), across_(across), chosen_(members.size()), taken_(members.size()) {
    hashes_.reserve(members.size());
    for (const IpAddress& member : members) hashes_.push_back(hashOf(member));
  }

  std::vector<std::vector<std::uint32_t>> run() {
    takeAllOthers();
    std::uint64_t round = 0;
    while (match(++round)) {
    }
    while (fill(++round)) {
    }
    for (auto& targets : chosen_) std::sort(targets.begin(), targets.end());
    return std::move(chosen_);
  }

 private:
  // Members with at most `across` others outside their group probe all of them.
  void takeAllOthers() {
    std::vector<std::uint32_t> sizes;
    for (const std::uint32_t group : groups_) {
      if (group >= sizes.size()) sizes.resize(group + 1);
      ++sizes[group];
    }
    complete_.resize(chosen_.size());
    std::vector<std::vector<std::uint32_t>> others(sizes.size());
    for (std::uint32_t member = 0; member < chosen_.size(); ++member) {
      const std::uint32_t group = groups_[member];
      const std::size_t outside = chosen_.size() - sizes[group];
      if (outside > across_) continue;
      complete_[member] = true;
      auto& all = others[group];
      for (std::uint32_t other = 0; all.size() < outside; ++other) {
        if (groups_[other] != group) all.push_back(other);
      }
      for (const std::uint32_t other : all) take(member, other);
    }
  }

  bool wants(std::uint32_t source) const {
    return !complete_[source] && chosen_[source].size() < across_;
  }
  bool isOpen(std::uint32_t destination) const { return taken_[destination] < across_; }
  bool suit(std::uint32_t source, std::uint32_t destination) const {
    const auto& have = chosen_[source];
    return groups_[source] != groups_[destination] &&
           std::find(have.begin(), have.end(), destination) == have.end();
  }
  void take(std::uint32_t source, std::uint32_t destination) {
    chosen_[source].push_back(destination);
    ++taken_[destination];
  }

  // Returns the members on the ring of this round; `all` includes those without a wish.
  std::vector<std::uint32_t> ring(std::uint64_t round, bool all) const {
    std::vector<std::pair<std::uint64_t, std::uint32_t>> keys;
    const std::uint64_t seed = mix(round);
    for (std::uint32_t member = 0; member < chosen_.size(); ++member) {
      if (all || wants(member) || isOpen(member))
        keys.emplace_back(mix(hashes_[member] ^ seed), member);
    }
    std::sort(keys.begin(), keys.end());
    std::vector<std::uint32_t> order;
    order.reserve(keys.size());
    for (const auto& [key, member] : keys) order.push_back(member);
    return order;
  }

  // Matches sources with destinations, and returns whether there was a match. The second lap is for
  // the sources that still wait at the end of the ring.
  bool match(std::uint64_t round) {
    const std::vector<std::uint32_t> order = ring(round, false);
    std::vector<std::uint32_t> waiting;
    std::vector<bool> used(order.size());
    bool matched = false;
    for (std::size_t step = 0; step < 2 * order.size(); ++step) {
      const bool first_lap = step < order.size();
      const std::size_t at = first_lap ? step : step - order.size();
      if (!first_lap && waiting.empty()) break;
      const std::uint32_t member = order[at];
      if (!used[at] && isOpen(member) && giveTo(member, waiting)) matched = used[at] = true;
      if (first_lap && wants(member)) waiting.push_back(member);
    }
    return matched;
  }

  // Makes `destination` the target of the newest waiting source that it suits.
  bool giveTo(std::uint32_t destination, std::vector<std::uint32_t>& waiting) {
    const std::size_t tries = std::min(waiting.size(), kMaxTries);
    for (std::size_t i = 1; i <= tries; ++i) {
      const auto source = waiting.end() - static_cast<std::ptrdiff_t>(i);
      if (!suit(*source, destination)) continue;
      take(*source, destination);
      waiting.erase(source);
      return true;
    }
    return false;
  }

  // For the members of a group with more than half of all: gives each one more destination, the
  // next on the ring, however many sources that has. Returns whether some want more.
  bool fill(std::uint64_t round) {
    const std::vector<std::uint32_t> order = ring(round, true);
    const std::size_t size = order.size();
    // From each place, the number of steps to the next member of another group.
    std::vector<std::size_t> leap(size, size);
    for (std::size_t i = 2 * size; i-- > 0;) {
      const std::size_t next = (i + 1) % size;
      const bool same = groups_[order[i % size]] == groups_[order[next]];
      leap[i % size] = same ? std::min(leap[next] + 1, size) : 1;
    }
    bool more = false;
    for (std::size_t at = 0; at < size; ++at) {
      const std::uint32_t source = order[at];
      if (!wants(source)) continue;
      std::size_t steps = leap[at];
      while (!suit(source, order[(at + steps) % size])) {
        const std::size_t here = (at + steps) % size;
        steps += groups_[order[here]] == groups_[source] ? leap[here] : 1;
      }
      take(source, order[(at + steps) % size]);
      more = more || wants(source);
    }
    return more;
  }

  std::span<const std::uint32_t> groups_;
  const std::uint32_t across_;
  std::vector<std::vector<std::uint32_t>> chosen_;  // by source
  std::vector<std::uint32_t> taken_;                // by destination: the number of its sources
  std::vector<bool> complete_;                      // sources that probe all others
  std::vector<std::uint64_t> hashes_;
};

// The group of each member, by the lists that the probe names.
std::vector<std::uint32_t> groupsOf(const Plan& plan, const ProbeSpec& probe,
                                    const AddressList& members) {
  constexpr std::uint32_t kNone = 0xffffffff;
  std::vector<std::uint32_t> groups(members.size(), kNone);
  std::uint32_t number = 0;
  for (const std::string& name : probe.groups) {
    for (const IpAddress& address : plan.list(name)) {
      const auto at = std::lower_bound(members.begin(), members.end(), address);
      if (at == members.end() || *at != address) continue;
      groups[static_cast<std::size_t>(at - members.begin())] = number;
    }
    ++number;
  }
  for (std::uint32_t& group : groups) {
    if (group == kNone) group = number++;
  }
  return groups;
}

// The extra pairs of two members by their numbers, ascending.
Targets::ExtraPairs extraOf(const ProbeSpec& probe, const AddressList& members) {
  const auto number_of = [&](const IpAddress& address) {
    const auto at = std::lower_bound(members.begin(), members.end(), address);
    const bool found = at != members.end() && *at == address;
    return static_cast<std::uint32_t>(found ? at - members.begin() : members.size());
  };
  Targets::ExtraPairs made;
  for (const auto& [source, destination] : probe.extra) {
    const Targets::ExtraPairs::value_type pair{number_of(source), number_of(destination)};
    if (std::max(pair.first, pair.second) < members.size()) made.push_back(pair);
  }
  std::sort(made.begin(), made.end());
  return made;
}

}  // namespace

bool Targets::contains(std::uint32_t source, std::uint32_t destination) const {
  if (together(source, destination)) return true;
  const auto targets = across(source);
  return std::binary_search(targets.begin(), targets.end(), destination);
}

std::vector<std::uint32_t> Targets::of(std::uint32_t source) const {
  const auto others = across(source);
  const auto& group = members_[groups_[source]];
  std::vector<std::uint32_t> all;
  all.reserve(others.size() + group.size());
  std::merge(others.begin(), others.end(), group.begin(), group.end(), std::back_inserter(all));
  return all;
}

std::vector<std::vector<std::uint32_t>> sampleAcross(std::span<const IpAddress> members,
                                                     std::span<const std::uint32_t> groups,
                                                     std::uint32_t across) {
  return Sampler(members, groups, across).run();
}

// `extra` is ascending. What is no pair across groups, or is one already, adds nothing.
void Targets::addExtra(const ExtraPairs& extra, std::uint32_t source) {
  auto at = std::lower_bound(extra.begin(), extra.end(), std::pair(source, std::uint32_t{0}));
  if (at == extra.end() || at->first != source) return;
  for (; at != extra.end() && at->first == source; ++at) {
    if (!together(source, at->second)) across_.push_back(at->second);
  }
  const auto first = across_.begin() + first_[source];
  std::sort(first, across_.end());
  across_.erase(std::unique(first, across_.end()), across_.end());
}

std::shared_ptr<const Targets> targetsOf(const Plan& plan, const ProbeSpec& probe) {
  if (probe.across == 0) return nullptr;
  const AddressList& members = plan.list(probe.destinations);
  auto made = std::make_shared<Targets>();
  made->groups_ = groupsOf(plan, probe, members);
  for (std::uint32_t member = 0; member < members.size(); ++member) {
    const std::uint32_t group = made->groups_[member];
    if (group >= made->members_.size()) made->members_.resize(group + 1);
    made->members_[group].push_back(member);
  }
  const auto extra = extraOf(probe, members);
  made->first_.reserve(members.size() + 1);
  // IPv4 sorts before IPv6, and a pair never crosses address families.
  const auto v4 = static_cast<std::size_t>(
      std::partition_point(members.begin(), members.end(),
                           [](const IpAddress& address) { return address.isV4(); }) -
      members.begin());
  for (const auto& [begin, end] : {std::pair(std::size_t{0}, v4), std::pair(v4, members.size())}) {
    const auto chosen =
        sampleAcross(std::span(members).subspan(begin, end - begin),
                     std::span(made->groups_).subspan(begin, end - begin), probe.across);
    for (const auto& targets : chosen) {
      made->first_.push_back(static_cast<std::uint32_t>(made->across_.size()));
      for (const std::uint32_t target : targets) {
        made->across_.push_back(target + static_cast<std::uint32_t>(begin));
      }
      made->addExtra(extra, static_cast<std::uint32_t>(made->first_.size() - 1));
    }
  }
  made->first_.push_back(static_cast<std::uint32_t>(made->across_.size()));
  return made;
}

}  // namespace pingloom::plan
