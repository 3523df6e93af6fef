#include "controller/model/fabric_map.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <tuple>

namespace pingloom::controller {
namespace {

using Number = std::uint32_t;

// Sets of addresses that belong together.
class Sets {
 public:
  Number add() {
    parents_.push_back(static_cast<Number>(parents_.size()));
    return parents_.back();
  }
  Number find(Number at) {
    while (parents_[at] != at) at = parents_[at] = parents_[parents_[at]];
    return at;
  }
  void join(Number a, Number b) {
    parents_[std::max(find(a), find(b))] = std::min(find(a), find(b));
  }

 private:
  std::vector<Number> parents_;
};

// The other address of a link with two addresses (/31, /127).
IpAddress partnerOf(const IpAddress& address) {
  if (address.isV4()) return IpAddress::fromV4(address.v4() ^ 1U);
  auto bytes = address.bytes();
  bytes.back() ^= 1U;
  return IpAddress::fromBytes16(bytes.data());
}

class Mapper {
 public:
  explicit Mapper(const SwitchNames& names) : names_(names) {}

  void read(const KnownPaths& paths);
  void mergeNamed();
  void mergeNextToHosts();
  // Merges what has a common successor, or the other address of a link to one. Returns whether the
  // result makes sense; otherwise nothing is merged.
  bool mergeBySuccessor();
  std::shared_ptr<FabricMap> finish();

 private:
  static constexpr Number kNobody = UINT32_MAX;
  struct Pair {
    Number from = 0;
    Number to = 0;
    auto operator<=>(const Pair&) const = default;
  };

  Number numberOf(const IpAddress& address);
  bool contradicts(Sets& sets) const;
  std::optional<Number> known(const IpAddress& address) const;

  const SwitchNames& names_;
  std::vector<IpAddress> addresses_;
  std::unordered_map<IpAddress, Number, IpAddressHash> numbers_;
  Sets sets_;
  std::map<Pair, Number> follows_;  // router after router; how many flows
  // For each host, the routers next to it.
  std::unordered_map<IpAddress, std::vector<Number>, IpAddressHash> next_to_;
  std::vector<std::uint32_t> tiers_;
};

Number Mapper::numberOf(const IpAddress& address) {
  const auto [at, fresh] = numbers_.try_emplace(address, static_cast<Number>(addresses_.size()));
  if (fresh) {
    addresses_.push_back(address);
    tiers_.push_back(UINT32_MAX);
    sets_.add();
  }
  return at->second;
}

std::optional<Number> Mapper::known(const IpAddress& address) const {
  const auto found = numbers_.find(address);
  return found == numbers_.end() ? std::nullopt : std::optional(found->second);
}

void Mapper::read(const KnownPaths& paths) {
  for (const auto& each : paths) {
    const TracedPath& path = each->path;
    Number before = kNobody;
    const bool reached = path.end == PathEnd::kReached;
    for (std::size_t i = 0; i < path.hops.size(); ++i) {
      const PathHop& hop = path.hops[i];
      if (!hop.isKnown()) {
        before = kNobody;
        continue;
      }
      const Number at = numberOf(hop.router);
      std::size_t tier = i + 1;
      if (reached) tier = std::min(tier, path.hops.size() - i);
      tiers_[at] = std::min(tiers_[at], static_cast<std::uint32_t>(tier));
      if (before != kNobody && before != at) ++follows_[{before, at}];
      if (i == 0) next_to_[path.source].push_back(at);
      if (reached && i + 1 == path.hops.size()) next_to_[path.destination].push_back(at);
      before = at;
    }
  }
}

void Mapper::mergeNamed() {
  std::unordered_map<std::string_view, Number> first;
  for (Number at = 0; at < addresses_.size(); ++at) {
    const auto named = names_.find(addresses_[at]);
    if (named == names_.end()) continue;
    const auto [one, fresh] = first.try_emplace(named->second.name, at);
    if (!fresh) sets_.join(one->second, at);
  }
}

// A host's address is behind one link.
void Mapper::mergeNextToHosts() {
  for (const auto& [host, routers] : next_to_) {
    for (const Number router : routers) sets_.join(routers.front(), router);
  }
}

// Two addresses of one switch that follow the same switch are ends of parallel links. Where most
// links seem to be parallel, the addresses are not those that packets arrive at, and different
// switches were merged. Nothing follows itself either.
bool Mapper::contradicts(Sets& sets) const {
  std::map<Pair, std::set<Number>> links;  // between switches; the addresses at their ends
  for (const auto& [pair, flows] : follows_) {
    links[{sets.find(pair.from), sets.find(pair.to)}].insert(pair.to);
  }
  const auto odd = std::count_if(links.begin(), links.end(), [](const auto& link) {
    return link.second.size() > 1 || link.first.from == link.first.to;
  });
  return 4 * static_cast<std::size_t>(odd) > links.size();
}

bool Mapper::mergeBySuccessor() {
  Sets sets = sets_;
  std::unordered_map<Number, Number> first;  // by successor
  for (const auto& [pair, flows] : follows_) {
    const auto [at, fresh] = first.try_emplace(pair.to, pair.from);
    if (!fresh) sets.join(at->second, pair.from);
    const auto partner = known(partnerOf(addresses_[pair.to]));
    if (partner) sets.join(pair.from, *partner);
  }
  if (contradicts(sets)) return false;
  sets_ = std::move(sets);
  return true;
}

std::shared_ptr<FabricMap> Mapper::finish() {
  std::map<Number, FabricMap::Switch> by_set;
  std::map<Number, std::uint32_t> named_tiers;
  for (Number at = 0; at < addresses_.size(); ++at) {
    FabricMap::Switch& made = by_set[sets_.find(at)];
    made.tier = made.addresses.empty() ? tiers_[at] : std::min(made.tier, tiers_[at]);
    made.addresses.push_back(addresses_[at]);
    const auto named = names_.find(addresses_[at]);
    if (named == names_.end()) continue;
    made.named = true;
    made.name = named->second.name;
    if (named->second.tier != 0) named_tiers[sets_.find(at)] = named->second.tier;
  }
  auto map = std::make_shared<FabricMap>();
  for (auto& [set, made] : by_set) {
    std::sort(made.addresses.begin(), made.addresses.end());
    if (!made.named) made.name = made.addresses.front().text();
    if (named_tiers.contains(set)) made.tier = named_tiers[set];
    map->switches.push_back(std::move(made));
  }
  std::sort(map->switches.begin(), map->switches.end(), [](const auto& a, const auto& b) {
    return std::tie(a.tier, a.name) < std::tie(b.tier, b.name);
  });
  for (std::uint32_t i = 0; i < map->switches.size(); ++i) {
    for (const IpAddress& address : map->switches[i].addresses) map->switch_of[address] = i;
  }
  std::map<Pair, std::uint32_t> flows;
  for (const auto& [pair, count] : follows_) {
    flows[{map->at(addresses_[pair.from]), map->at(addresses_[pair.to])}] += count;
  }
  for (const auto& [pair, count] : flows) map->links.push_back({pair.from, pair.to, count});
  return map;
}

}  // namespace

std::shared_ptr<const FabricMap> mapFabric(const KnownPaths& paths, std::uint64_t version,
                                           const SwitchNames& names) {
  Mapper mapper(names);
  mapper.read(paths);
  mapper.mergeNamed();
  mapper.mergeNextToHosts();
  const bool merged = mapper.mergeBySuccessor();
  auto map = mapper.finish();
  map->merged = merged;
  map->version = version;
  return map;
}

}  // namespace pingloom::controller
