// What everybody probes: the probes and the address lists they share, as the controller pushes them
// and every agent keeps them. An immutable value once built; any thread.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "common/address.h"
#include "common/time.h"
#include "common/vocabulary.h"

namespace pingloom::plan {

// Of one pair. Every window of a source carries all of them and their merge.
constexpr std::uint32_t kMaxPaths = 128;

using AddressList = std::vector<IpAddress>;  // ascending, no address twice

struct ProbeSpec {
  std::string name;  // [A-Za-z0-9._-], 1..64 characters, unique in the plan
  Protocol protocol = Protocol::kUdp;
  std::string sources;  // names of lists in Plan::lists; a mesh names the same list twice
  std::string destinations;
  bool self = false;         // pairs of an address with itself as well
  Nanos interval = kSecond;  // every source pings each of its destinations once in it
  Nanos timeout = 500 * kMillisecond;
  Nanos window = 10 * kSecond;
  std::uint32_t traffic_class = 0;  // DSCP+ECN byte
  std::uint32_t payload = 64;       // bytes of a PING
  std::uint16_t port = 0;           // tcp: a service without an agent; 0 = the agents' own port
  std::uint32_t paths = 1;          // rdma: flow labels per pair, 1..kMaxPaths; more than one:
                                    // each is pinged once in an interval and has its own window

  bool operator==(const ProbeSpec&) const = default;
};

struct Plan {
  std::vector<ProbeSpec> probes;  // in the pinglist's order
  std::map<std::string, std::shared_ptr<const AddressList>> lists;

  const AddressList& list(const std::string& name) const;  // empty where there is none
};

// Equal plans have equal hashes, on every machine and after every restart; never 0. FNV-1a, 64
// bits.
std::uint64_t hash(const Plan& plan);

// What one source address does for one probe.
struct Assignment {
  ProbeSpec probe;
  IpAddress source;
  AddressList destinations;
};

// All that an agent with these addresses has to do; probes that do not name it are left out.
std::vector<Assignment> assignmentsOf(const Plan& plan,
                                      const std::vector<IpAddress>& own_addresses);

// Every address that any list names: the sources a responder knows.
AddressList allAddresses(const Plan& plan);

}  // namespace pingloom::plan
