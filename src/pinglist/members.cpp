#include "pinglist/members.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "common/text.h"
#include "plan/address_range.h"
#include "plan/plan_codec.h"

namespace pingloom::pinglist {
namespace {

constexpr std::size_t kNamesShown = 3;

// "a, b, c and 7 more".
std::string namesOf(const std::vector<const Member*>& members) {
  std::vector<std::string> names;
  for (const Member* member : members) {
    if (names.size() == kNamesShown) break;
    names.push_back(member->host);
  }
  const std::size_t more = members.size() - names.size();
  return join(names, ", ") + (more == 0 ? "" : fmt::format(" and {} more", more));
}

// The labels that `hosts:` gives to addresses.
class Labels {
 public:
  explicit Labels(const std::vector<Host>& hosts) {
    for (const Host& host : hosts) {
      for (const auto& [label, address] : host.addresses) of_[address] = &host;
    }
  }

  bool match(const IpAddress& address, const RegisteredFilter& filter) const {
    if (filter.labels.empty()) return true;
    const auto found = of_.find(address);
    if (found == of_.end()) return false;
    const auto& have = found->second->labels;
    return std::all_of(filter.labels.begin(), filter.labels.end(), [&have](const auto& wanted) {
      const auto at = have.find(wanted.first);
      return at != have.end() && at->second == wanted.second;
    });
  }

 private:
  std::unordered_map<IpAddress, const Host*, IpAddressHash> of_;
};

bool matches(const IpAddress& address, const RegisteredFilter& filter, const Labels& labels) {
  if (!plan::checkProbeable(address)) return false;
  const bool inside =
      filter.within.empty() ||
      std::any_of(filter.within.begin(), filter.within.end(),
                  [&](const Network& network) { return network.contains(address); });
  return inside && labels.match(address, filter);
}

// Fills the lists of one pinglist.
class Expander {
 public:
  Expander(const Pinglist& pinglist, const std::vector<Member>& members, Nanos now_utc)
      : base_(pinglist), labels_(pinglist.hosts), now_utc_(now_utc) {
    made_.pinglist = pinglist;
    made_.pinglist.registered.clear();
    for (const Member& member : members) members_.push_back(&member);
    // Those that registered first stay in the mesh when the cap is reached, so a newcomer displaces
    // nobody.
    std::sort(members_.begin(), members_.end(), [](const Member* a, const Member* b) {
      return std::tie(a->joined_utc, a->host) < std::tie(b->joined_utc, b->host);
    });
  }

  Expansion run() {
    Pinglist& made = made_.pinglist;
    std::set<std::string> done;
    for (const plan::ProbeSpec& probe : base_.plan.probes) {
      for (const std::string& list : {probe.sources, probe.destinations}) {
        if (base_.registered.contains(list) && done.insert(list).second) fill(probe, list);
      }
    }
    leaveOutEmptyProbes(made);
    nameMembers(made);
    formGroups(made);
    for (const auto& [name, sampling] : made.samplings) {
      if (sampling.unlabeled == 0) continue;
      made_.notes.push_back(fmt::format(
          "probe '{}': {} members have no label '{}', so each of them is a group of its own", name,
          sampling.unlabeled, sampling.label));
    }
    return std::move(made_);
  }

 private:
  void fill(const plan::ProbeSpec& probe, const std::string& list) {
    plan::AddressList all = base_.plan.list(list);
    for (const RegisteredFilter& filter : base_.registered.at(list)) {
      add(probe, filter, all);
    }
    std::sort(all.begin(), all.end());
    all.erase(std::unique(all.begin(), all.end()), all.end());
    made_.pinglist.plan.lists[list] = std::make_shared<const plan::AddressList>(std::move(all));
  }

  // Appends the addresses of the members that the filter lets in.
  void add(const plan::ProbeSpec& probe, const RegisteredFilter& filter, plan::AddressList& all) {
    const bool rdma = probe.protocol == Protocol::kRdma;
    std::vector<const Member*> beyond;
    std::vector<const Member*> without_device;
    std::size_t taken = 0;
    const std::size_t most = probe.across == 0 ? plan::kMaxListAddresses
                                               : std::min(plan::kMaxListAddresses,
                                                          plan::kMaxSampledPairs / probe.across);
    for (const Member* member : members_) {
      if (member->gone_utc != 0 && now_utc_ - member->gone_utc > filter.forget) continue;
      std::vector<IpAddress> found;
      for (const IpAddress& address : member->addresses) {
        if (matches(address, filter, labels_)) found.push_back(address);
      }
      if (found.empty()) continue;
      if (rdma) {
        std::erase_if(found, [&](const IpAddress& address) {
          return !std::binary_search(member->rdma.begin(), member->rdma.end(), address);
        });
      }
      if (found.empty()) {
        without_device.push_back(member);
        continue;
      }
      if (!filter.all_addresses) found.resize(1);
      if (taken == filter.max || all.size() + found.size() > most) {
        beyond.push_back(member);
        continue;
      }
      ++taken;
      for (const IpAddress& address : found) {
        all.push_back(address);
        used_.emplace(address, member);
      }
    }
    tell(probe, filter, beyond, without_device);
  }

  void tell(const plan::ProbeSpec& probe, const RegisteredFilter& filter,
            const std::vector<const Member*>& beyond,
            const std::vector<const Member*>& without_device) {
    if (!beyond.empty()) {
      made_.warnings.push_back(
          fmt::format("probe '{}': more agents are registered than max: {}; those that registered "
                      "last are left out: {}",
                      probe.name, filter.max, namesOf(beyond)));
    }
    if (!without_device.empty()) {
      made_.notes.push_back(
          fmt::format("probe '{}': agents without an RDMA device are left out: {}", probe.name,
                      namesOf(without_device)));
    }
  }

  static void leaveOutEmptyProbes(Pinglist& made) {
    plan::Plan& plan = made.plan;
    std::vector<plan::ProbeSpec> probes;
    std::vector<Thresholds> thresholds;
    std::vector<std::string> rollups;
    std::set<std::string> named;
    for (std::size_t i = 0; i < plan.probes.size(); ++i) {
      const plan::ProbeSpec& probe = plan.probes[i];
      if (plan.list(probe.sources).empty() || plan.list(probe.destinations).empty()) continue;
      named.insert({probe.sources, probe.destinations});
      named.insert(probe.groups.begin(), probe.groups.end());
      probes.push_back(probe);
      thresholds.push_back(made.thresholds.at(i));
      rollups.push_back(made.rollups.at(i));
    }
    plan.probes = std::move(probes);
    made.thresholds = std::move(thresholds);
    made.rollups = std::move(rollups);
    std::erase_if(plan.lists, [&](const auto& list) { return !named.contains(list.first); });
  }

  // Members that `hosts:` does not name appear by their id. An id that means something else in the
  // file names nothing.
  void nameMembers(Pinglist& made) const {
    std::set<std::string> taken;
    for (const Host& host : made.hosts) taken.insert(host.name);
    for (const auto& [address, name] : made.names) taken.insert(name);
    std::map<std::string, Host> added;
    for (const auto& [address, member] : used_) {
      if (made.names.contains(address) || taken.contains(member->host)) continue;
      if (IpAddress::parse(member->host) || invalidUtf8At(member->host) != std::string::npos) {
        continue;
      }
      Host& host = added[member->host];
      host.name = member->host;
      host.addresses.emplace_back("", address);
    }
    for (auto& [name, host] : added) {
      const bool several = host.addresses.size() > 1;
      for (auto& [label, address] : host.addresses) {
        if (several) label = address.text();
        std::string& full_name = made.names[address];
        full_name = name;
        if (several) full_name.append("/").append(label);
      }
      made.hosts.push_back(std::move(host));
    }
  }

  const Pinglist& base_;
  const Labels labels_;
  const Nanos now_utc_;
  std::vector<const Member*> members_;
  std::map<IpAddress, const Member*> used_;
  Expansion made_;
};

}  // namespace

Expansion expand(const Pinglist& pinglist, const std::vector<Member>& members, Nanos now_utc) {
  if (pinglist.registered.empty()) return {pinglist, {}, {}};
  return Expander(pinglist, members, now_utc).run();
}

Nanos longestForget(const Pinglist& pinglist) {
  Nanos longest = 0;
  for (const auto& [list, filters] : pinglist.registered) {
    for (const RegisteredFilter& filter : filters) longest = std::max(longest, filter.forget);
  }
  return longest;
}

}  // namespace pingloom::pinglist
