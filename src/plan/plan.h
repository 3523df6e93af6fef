// The plan that all agents follow: the probes, and the address lists that they share. The
// controller pushes it, and every agent keeps it. Immutable once built; any thread.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "common/address.h"
#include "common/time.h"
#include "common/vocabulary.h"

namespace pingloom::plan {

// The maximum number of paths of a pair. Every window of a source carries rows for all of them and
// for their merge.
constexpr std::uint32_t kMaxPaths = 128;
constexpr std::uint32_t kMaxServiceLevel = 15;
// Limits of a probe that samples: destinations in other groups for each source, such pairs in all,
// and groups.
constexpr std::uint32_t kMaxAcross = 128;
constexpr std::size_t kMaxSampledPairs = 1 << 22;
constexpr std::size_t kMaxGroups = 16'384;
// Pairs that are added to the sample, so that its flows cross each link (link_cover.h). Every
// update of the plan names all of them.
constexpr std::size_t kMaxExtraPairs = 4096;

using AddressList = std::vector<IpAddress>;  // ascending, without duplicates
bool contains(const AddressList& list, const IpAddress& address);

struct ProbeSpec {
  std::string name;  // [A-Za-z0-9._-], 1..64 characters, unique in the plan
  Protocol protocol = Protocol::kUdp;
  std::string sources;  // names of lists in Plan::lists; a mesh uses one list for both
  std::string destinations;
  bool self = false;         // includes pairs of an address with itself
  Nanos interval = kSecond;  // every source pings each of its destinations once per interval
  Nanos timeout = 500 * kMillisecond;
  Nanos window = 10 * kSecond;
  std::uint32_t traffic_class = 0;  // the byte with DSCP and ECN
  std::uint32_t payload = 64;       // size of a PING in bytes
  std::uint16_t port = 0;           // tcp: a service without an agent; 0 = the agents' own port
  // rdma: flow labels per pair, 1..kMaxPaths. Each is pinged once in an interval, and if there are
  // several, each has a window of its own.
  std::uint32_t paths = 1;
  // rdma: of the PINGs and their answers; nullopt stands for what the agent's `rdma:` says
  std::optional<std::uint8_t> service_level = std::nullopt;  // 0..15
  // rdma: the source's entry in its port's GID table; nullopt stands for the address's
  std::optional<std::uint8_t> gid_index = std::nullopt;
  // 0: each source probes all destinations. Otherwise the probe samples a mesh: members of the same
  // group probe each other on one path, and each probes so many of other groups on `paths` paths.
  // src/plan/sampling.h chooses them.
  std::uint32_t across = 0;
  std::vector<std::string> groups = {};  // names of lists in Plan::lists, one for each group
  // With `across`: more pairs of members of different groups, ascending.
  std::vector<std::pair<IpAddress, IpAddress>> extra = {};

  bool operator==(const ProbeSpec&) const = default;
};

struct Plan {
  std::vector<ProbeSpec> probes;  // ordered as in the pinglist
  std::map<std::string, std::shared_ptr<const AddressList>> lists;

  // returns an empty list if the name is unknown
  const AddressList& list(const std::string& name) const;
};

// Returns a hash (64-bit FNV-1a, never 0) that is equal for equal plans on every machine and after
// every restart.
std::uint64_t hash(const Plan& plan);

// The work of one source address for one probe. A probe that samples and has several paths gives a
// source two of them: the pairs of its group, with `paths` 1, and all others. `groups` and `extra`
// are empty in `probe`, so that an assignment changes only if its own work does.
struct Assignment {
  ProbeSpec probe;
  IpAddress source;
  AddressList destinations;
};

// Returns all work of an agent with these addresses; probes that do not name it are left out.
std::vector<Assignment> assignmentsOf(const Plan& plan,
                                      const std::vector<IpAddress>& own_addresses);

// Returns every address in any list. These are the sources that a responder knows.
AddressList allAddresses(const Plan& plan);

}  // namespace pingloom::plan
