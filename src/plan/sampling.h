// Chooses which members of a large mesh probe each other: all within a group, and a sample of the
// pairs across groups. Pure functions; any thread.
//
// In each of `across` rounds the members stand on a ring, ordered by a hash of their address and of
// the round. As brackets are matched, each source is matched with a destination of another group a
// little further on the ring, so in each round a member is a source once and a destination once.
// Members that got the same destination twice, or none, take part in further, smaller rounds. The
// result depends on nothing but the addresses and their groups. So every agent computes the same,
// and a member that comes or goes changes only pairs near its places on the rings.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "plan/plan.h"

namespace pingloom::plan {

// The pairs of a probe that samples. Members are known by their number in the probe's list.
class Targets {
 public:
  using ExtraPairs = std::vector<std::pair<std::uint32_t, std::uint32_t>>;

  // Returns the destinations in other groups, ascending. REQUIRES: source < members().
  std::span<const std::uint32_t> across(std::uint32_t source) const {
    return std::span(across_).subspan(first_[source], first_[source + 1] - first_[source]);
  }
  // Returns the destinations in other groups and the members of its own, itself among them, of both
  // address families; ascending. REQUIRES: source < members().
  std::vector<std::uint32_t> of(std::uint32_t source) const;
  // Tells whether two members are in the same group; a member is always together with itself.
  bool together(std::uint32_t a, std::uint32_t b) const { return groups_[a] == groups_[b]; }
  // Tells whether the source probes the destination, if they are of the same address family and
  // not the same. REQUIRES: both < members().
  bool contains(std::uint32_t source, std::uint32_t destination) const;
  // A member without a group has a number of its own, which is not below ProbeSpec::groups.size().
  std::uint32_t groupOf(std::uint32_t member) const { return groups_[member]; }
  std::uint32_t members() const { return static_cast<std::uint32_t>(groups_.size()); }

 private:
  friend std::shared_ptr<const Targets> targetsOf(const Plan& plan, const ProbeSpec& probe);
  void addExtra(const ExtraPairs& extra, std::uint32_t source);

  std::vector<std::uint32_t> first_;                 // of each member in across_, and the end
  std::vector<std::uint32_t> across_;                // by source
  std::vector<std::uint32_t> groups_;                // by member
  std::vector<std::vector<std::uint32_t>> members_;  // by group, ascending
};

// Returns the pairs of a probe that samples, and nullptr for all others. It takes
// O(members x across x log(members)) time.
std::shared_ptr<const Targets> targetsOf(const Plan& plan, const ProbeSpec& probe);

// Returns for each member the members of other groups that it probes, ascending: `across` of them,
// or all others if there are no more. Each member is the destination of `across` others too, unless
// a group has more than half of the members. REQUIRES: `groups` has the group of each member, a
// number below 2 * members + kMaxGroups.
std::vector<std::vector<std::uint32_t>> sampleAcross(std::span<const IpAddress> members,
                                                     std::span<const std::uint32_t> groups,
                                                     std::uint32_t across);

}  // namespace pingloom::plan
