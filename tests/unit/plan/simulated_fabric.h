// Fabrics whose switches choose among equal-cost paths by a hash of the flow, and the flows of a
// probe that samples over them: what traces would show.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "plan/link_cover.h"
#include "plan/plan.h"
#include "plan/sampling.h"

namespace pingloom::plan::test {

// A fat tree of k ports (k = 8: 128 hosts), or, with k = 0, a leaf-spine.
struct SimulatedFabric {
  std::uint32_t k = 8;
  std::uint32_t leafs = 0;
  std::uint32_t spines = 0;
  std::uint32_t hosts_per_leaf = 0;

  std::uint32_t perTor() const { return k > 0 ? k / 2 : hosts_per_leaf; }
  std::uint32_t tors() const { return k > 0 ? k * k / 2 : leafs; }
  std::uint32_t hosts() const { return tors() * perTor(); }

  // The switches that a flow passes. ToRs come first, then aggregation switches, then cores.
  std::vector<std::uint32_t> path(std::uint32_t from, std::uint32_t to, std::uint32_t label) const {
    const std::uint32_t first = from / perTor();
    const std::uint32_t last = to / perTor();
    if (first == last) return {first};
    const auto choice = [&](std::uint32_t tier, std::uint32_t among) {
      std::uint64_t hash = 0xcbf29ce484222325;
      for (const std::uint64_t each : {from, to, label, tier}) {
        hash += each + 0x9E3779B97F4A7C15;
        hash = (hash ^ (hash >> 30)) * 0xBF58476D1CE4E5B9;
        hash = (hash ^ (hash >> 27)) * 0x94D049BB133111EB;
        hash ^= hash >> 31;
      }
      return static_cast<std::uint32_t>(hash % among);
    };
    if (k == 0) return {first, tors() + choice(1, spines), last};
    const std::uint32_t half = k / 2;
    const std::uint32_t column = choice(1, half);
    const std::uint32_t up = tors() + first / half * half + column;
    if (first / half == last / half) return {first, up, last};
    const std::uint32_t core = 2 * tors() + column * half + choice(2, half);
    return {first, up, core, tors() + last / half * half + column, last};
  }
};

// A probe on all hosts, in groups by ToR.
struct SimulatedProbe {
  SimulatedFabric fabric;
  Plan plan;
  std::uint32_t cover = 3;
  std::vector<bool> here;  // by host: whether it is a member

  SimulatedProbe(SimulatedFabric shape, std::uint32_t across, std::uint32_t paths)
      : fabric(shape), here(shape.hosts(), true) {
    ProbeSpec spec;
    spec.name = spec.sources = spec.destinations = "fabric";
    spec.protocol = Protocol::kRdma;
    spec.across = across;
    spec.paths = paths;
    for (std::uint32_t tor = 0; tor < shape.tors(); ++tor) {
      spec.groups.push_back("tor" + std::to_string(tor));
    }
    plan.probes.push_back(spec);
    listMembers();
  }

  static IpAddress address(std::uint32_t host) { return IpAddress::fromV4(0x0A000000 + host); }
  static std::uint32_t hostOf(const IpAddress& address) {
    std::uint32_t host = 0;
    for (const char byte : address.wire()) host = host << 8 | static_cast<std::uint8_t>(byte);
    return host - 0x0A000000;
  }
  ProbeSpec& spec() { return plan.probes[0]; }
  void listMembers() {
    AddressList all;
    std::vector<AddressList> groups(fabric.tors());
    for (std::uint32_t host = 0; host < fabric.hosts(); ++host) {
      if (!here[host]) continue;
      all.push_back(address(host));
      groups[host / fabric.perTor()].push_back(address(host));
    }
    plan.lists["fabric"] = std::make_shared<const AddressList>(all);
    for (std::uint32_t tor = 0; tor < fabric.tors(); ++tor) {
      plan.lists["tor" + std::to_string(tor)] = std::make_shared<const AddressList>(groups[tor]);
    }
  }

  // What the traces of all flows across groups show, and what to do about it.
  CoverAnswer look() {
    targets = targetsOf(plan, spec());
    const AddressList& members = plan.list("fabric");
    CoverQuestion question{targets.get(), &members, spec().across, spec().paths, cover, {}, {}};
    const auto number_of = [&](const IpAddress& of) {
      return static_cast<std::uint32_t>(std::lower_bound(members.begin(), members.end(), of) -
                                        members.begin());
    };
    for (const auto& [source, destination] : spec().extra) {
      question.chosen.emplace_back(number_of(source), number_of(destination));
    }
    for (std::uint32_t source = 0; source < members.size(); ++source) {
      for (const std::uint32_t to : targets->across(source)) {
        for (std::uint32_t label = 1; label <= spec().paths; ++label) {
          question.flows.push_back(
              {source, to, fabric.path(hostOf(members[source]), hostOf(members[to]), label)});
        }
      }
    }
    flows = question.flows.size();
    return coverLinks(question);
  }
  void add(const CoverAnswer& answer) {
    const AddressList& members = plan.list("fabric");
    for (const auto& [source, destination] : answer.pairs) {
      spec().extra.emplace_back(members[source], members[destination]);
    }
  }

  std::shared_ptr<const Targets> targets;
  std::size_t flows = 0;
};

}  // namespace pingloom::plan::test
