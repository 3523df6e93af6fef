#include "pinglist/coverage.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "plan/flow_labels.h"
#include "plan/sampling.h"

namespace pingloom::pinglist {
namespace {

// Returns the probability that fewer than `cover` of `flows` flows take one of `links` links.
double tooFew(std::uint64_t flows, std::uint32_t cover, double links) {
  const double share = 1 / links;
  const auto n = static_cast<double>(flows);
  double sum = 0;
  for (std::uint32_t k = 0; k < cover && k <= flows; ++k) {
    const double ways = std::lgamma(n + 1) - std::lgamma(k + 1.0) - std::lgamma(n - k + 1);
    sum += std::exp(ways + k * std::log(share) + (n - k) * std::log1p(-share));
  }
  return sum;
}

// Counts the flows that cross each ordered pair of groups.
void countGroupPairs(const plan::Targets& targets, Coverage& made) {
  std::vector<std::uint64_t> crossed;
  crossed.reserve(made.pairs_across);
  for (std::uint32_t source = 0; source < targets.members(); ++source) {
    for (const std::uint32_t destination : targets.across(source)) {
      crossed.push_back(std::uint64_t{targets.groupOf(source)} << 32 |
                        targets.groupOf(destination));
    }
  }
  std::sort(crossed.begin(), crossed.end());
  std::vector<std::uint64_t> counts;
  for (std::size_t i = 0; i < crossed.size(); ++i) {
    if (i == 0 || crossed[i] != crossed[i - 1]) counts.push_back(0);
    counts.back() += made.paths;
  }
  std::sort(counts.begin(), counts.end());
  made.group_pairs = std::uint64_t{made.groups} * (made.groups - 1);
  made.group_pairs_crossed = counts.size();
  const std::uint64_t none = made.group_pairs - counts.size();
  made.least_flows = none > 0 || counts.empty() ? 0 : counts.front();
  const std::uint64_t middle = made.group_pairs / 2;
  made.median_flows = middle < none || counts.empty() ? 0 : counts[middle - none];
}

// Counts what leaves and enters each group, and the sources of each destination.
void countGroups(const plan::Targets& targets, Coverage& made) {
  std::vector<std::uint32_t> sources(targets.members());
  std::vector<std::uint64_t> leaving(made.groups);
  std::vector<std::uint64_t> entering(made.groups);
  for (std::uint32_t source = 0; source < targets.members(); ++source) {
    for (const std::uint32_t destination : targets.across(source)) {
      ++sources[destination];
      leaving[targets.groupOf(source)] += made.paths;
      entering[targets.groupOf(destination)] += made.paths;
    }
  }
  if (sources.empty()) return;
  const auto [fewest, most] = std::minmax_element(sources.begin(), sources.end());
  made.fewest_sources = *fewest;
  made.most_sources = *most;
  made.least_of_group = std::min(*std::min_element(leaving.begin(), leaving.end()),
                                 *std::min_element(entering.begin(), entering.end()));
  made.links_covered = linksCovered(made.least_of_group, made.cover);
}

Coverage coverageOf(const Pinglist& pinglist, const plan::ProbeSpec& spec,
                    const Sampling& sampling) {
  Coverage made{
      .probe = spec.name, .label = sampling.label, .cover = sampling.cover, .paths = spec.paths};
  const auto targets = plan::targetsOf(pinglist.plan, spec);
  const plan::AddressList& members = pinglist.plan.list(spec.destinations);
  made.members = members.size();
  made.groups = spec.groups.size() + sampling.unlabeled;
  for (const std::string& name : spec.groups) {
    const plan::AddressList& group = pinglist.plan.list(name);
    const auto v4 = static_cast<std::uint64_t>(std::count_if(
        group.begin(), group.end(), [](const IpAddress& address) { return address.isV4(); }));
    const std::uint64_t v6 = group.size() - v4;
    made.pairs_within += v4 * v4 + v6 * v6 - (spec.self ? 0 : group.size());
  }
  if (spec.self) made.pairs_within += sampling.unlabeled;
  for (std::uint32_t i = 0; i < targets->members(); ++i) {
    made.pairs_across += targets->across(i).size();
  }
  countGroupPairs(*targets, made);
  countGroups(*targets, made);
  return made;
}

}  // namespace

std::uint32_t linksCovered(std::uint64_t flows, std::uint32_t cover) {
  if (flows < cover) return 0;
  std::uint64_t known = 1;
  std::uint64_t beyond = flows / std::max(1U, cover) + 1;
  while (beyond - known > 1) {
    const std::uint64_t links = known + (beyond - known) / 2;
    const auto n = static_cast<double>(links);
    const bool covered = n * tooFew(flows, cover, n) <= 1 - plan::kCoverage;
    (covered ? known : beyond) = links;
  }
  return static_cast<std::uint32_t>(known);
}

std::vector<Coverage> coverageOf(const Pinglist& pinglist) {
  std::vector<Coverage> made;
  for (const plan::ProbeSpec& spec : pinglist.plan.probes) {
    const auto sampling = pinglist.samplings.find(spec.name);
    if (sampling != pinglist.samplings.end()) {
      made.push_back(coverageOf(pinglist, spec, sampling->second));
    }
  }
  return made;
}

std::vector<std::string> describe(const Coverage& coverage, const Topology& topology) {
  std::vector<std::string> made;
  made.push_back(fmt::format(
      "{} members in {} groups by {}: {} pairs within groups, {} pairs across on {} path{}",
      coverage.members, coverage.groups, coverage.label, coverage.pairs_within,
      coverage.pairs_across, coverage.paths, coverage.paths == 1 ? "" : "s"));
  made.push_back(
      fmt::format("{} of {} ordered pairs of groups are crossed, by at least {} flows, median {}",
                  coverage.group_pairs_crossed, coverage.group_pairs, coverage.least_flows,
                  coverage.median_flows));
  made.push_back(fmt::format("a member is probed from other groups by {} to {} members",
                             coverage.fewest_sources, coverage.most_sources));
  made.push_back(fmt::format(
      "at least {} flows leave and enter each group: with probability {} they cross each of up to "
      "{} equal links to the fabric at least {} times each way",
      coverage.least_of_group, plan::kCoverage, coverage.links_covered, coverage.cover));
  const auto spines = std::count_if(topology.switches.begin(), topology.switches.end(),
                                    [](const Switch& each) { return each.tier == 2; });
  if (spines > coverage.links_covered) {
    made.push_back(fmt::format(
        "that is too few for links to the {} switches of tier 2: raise 'targets' or 'paths'",
        spines));
  }
  made.push_back(
      fmt::format("once paths are traced, the controller adds pairs for links that fewer than {} "
                  "flow{} cross{}",
                  coverage.cover, coverage.cover == 1 ? "" : "s", coverage.cover == 1 ? "es" : ""));
  made.push_back(
      topology.switches.empty()
          ? "which links share all of their flows is not known, because no 'topology' is named; "
            "no plan can tell such links apart, as little as a NIC from its cable"
          : "no plan can tell apart links that share all of their flows, such as a NIC and its "
            "cable; `pingloom fabric` shows the flows of each link once paths are traced");
  return made;
}

}  // namespace pingloom::pinglist
