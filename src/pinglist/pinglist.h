// The parsed pinglist.yaml: the plan for the agents, and the names and places that people see.
// docs/pinglist.md is its reference. An immutable value; any thread.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "common/address.h"
#include "common/error.h"
#include "common/time.h"
#include "pinglist/registered.h"
#include "pinglist/sampling.h"
#include "pinglist/thresholds.h"
#include "pinglist/topology.h"
#include "plan/plan.h"

namespace pingloom::pinglist {

struct Host {
  std::string name;
  std::vector<std::pair<std::string, IpAddress>> addresses;  // label ("" for the only one), address
  std::map<std::string, std::string> labels;                 // rack, rail, anything else
  // The host's pairs are not judged before this time; kNever: until the pinglist says otherwise.
  std::optional<Nanos> maintenance_until = std::nullopt;
};

// The limit for a value of a label by which latency is rolled up, because each series has two.
constexpr std::size_t kMaxRollupValueBytes = 256;

struct Pinglist {
  plan::Plan plan;
  std::vector<Thresholds> thresholds;  // indexed like plan.probes
  // Labels by whose values latency is rolled up, indexed likewise; "": none.
  std::vector<std::string> rollups;
  // `plan` of those probes that sample, by the probe's name.
  std::map<std::string, Sampling> samplings;
  // The entries `registered`, by the name of the list in `plan` that they belong to. Such a list
  // has only the addresses that the file itself names; expand() adds the agents' (members.h).
  std::map<std::string, std::vector<RegisteredFilter>> registered;
  std::vector<Host> hosts;
  std::unordered_map<IpAddress, std::string, IpAddressHash> names;  // "gpu-001", "gpu-002/rail1"
  Topology topology;                  // of the file that `topology` names; empty without one
  std::vector<std::string> warnings;  // each begins with file:line:column

  // Returns the host's name in the pinglist, or the address if it has none.
  std::string nameOf(const IpAddress& address) const;
};

// Parses the native form (version: 1) or PingWeave's. The error's entity is file:line:column.
// Errors and warnings quote the file and have at most kMaxComplaintBytes each, because documents
// show them. A maintenance that ended before `now_utc` causes a warning. A topology file is read
// too; its name is relative to the folder of `file`.
constexpr std::size_t kMaxComplaintBytes = 2000;
Result<Pinglist> parse(std::string_view text, std::string_view file, Nanos now_utc = 0);
Result<Pinglist> load(const std::string& path);  // refuses a file above 64 MiB

}  // namespace pingloom::pinglist
