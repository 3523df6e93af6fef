// What the plan of a probe that samples covers: how many flows cross each pair of groups, and how
// many links of a group to the fabric its flows surely cover. It knows members and groups and no
// links, so everything about links is a probability, for a fabric that spreads flows evenly by a
// hash. Pure functions; any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "pinglist/pinglist.h"

namespace pingloom::pinglist {

struct Coverage {
  std::string probe;
  std::string label;
  std::uint32_t cover = 0;
  std::uint32_t paths = 0;  // of a pair across groups
  std::size_t members = 0;
  std::size_t groups = 0;
  std::uint64_t pairs_within = 0;
  std::uint64_t pairs_across = 0;
  // These count the ordered pairs of groups, those that some flow crosses, and the flows that cross
  // one.
  std::uint64_t group_pairs = 0;
  std::uint64_t group_pairs_crossed = 0;
  std::uint64_t least_flows = 0;
  std::uint64_t median_flows = 0;
  // These are the flows that leave or enter the group with the fewest, and the sources from other
  // groups that a destination has.
  std::uint64_t least_of_group = 0;
  std::uint32_t fewest_sources = 0;
  std::uint32_t most_sources = 0;
  // The maximum number of equal links of that group to the fabric, each of which is crossed by at
  // least `cover` flows each way with probability plan::kCoverage; 0: not even one.
  std::uint32_t links_covered = 0;
};

// Returns one entry for each probe that samples, in the order of the plan.
std::vector<Coverage> coverageOf(const Pinglist& pinglist);

// Returns the maximum number of equal links, all of which `flows` flows cross at least `cover`
// times with probability plan::kCoverage, if each flow takes one at random. It is a lower bound.
std::uint32_t linksCovered(std::uint64_t flows, std::uint32_t cover);

// Returns the sentences that `pingloom check` and `pingloom plan` print.
std::vector<std::string> describe(const Coverage& coverage, const Topology& topology);

}  // namespace pingloom::pinglist
