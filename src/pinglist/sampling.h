// `plan` of a probe: a full mesh within groups of members that share a label's value, and a sample
// of the pairs across groups. docs/pinglist.md is its reference. Plain values; any thread.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/error.h"
#include "common/yaml.h"
#include "plan/plan.h"

namespace pingloom::pinglist {

class HostTable;
struct Pinglist;

struct Sampling {
  static constexpr std::uint32_t kMaxCover = 64;

  std::string label;          // members with the same value of it are a group
  std::uint32_t cover = 3;    // the flows that each link of the fabric shall have each way
  std::size_t unlabeled = 0;  // members without the label; each is a group of its own

  bool operator==(const Sampling&) const = default;
};

// Reads the node `plan` of a probe, and sets the spec's `across` and `paths`. `probe` is the node
// of the probe.
Result<Sampling> readSampling(const yaml::Node& node, const yaml::Node& probe,
                              const HostTable& hosts, plan::ProbeSpec& spec);

// Makes the lists of the groups, from the labels of the hosts, for all probes that sample. Lists of
// groups that were there before are replaced.
void formGroups(Pinglist& pinglist);

}  // namespace pingloom::pinglist
