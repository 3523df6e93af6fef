// Replaces the entries `registered` of a pinglist by the addresses of the agents that have
// registered. Pure functions; any thread.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "common/address.h"
#include "common/time.h"
#include "pinglist/pinglist.h"

namespace pingloom::pinglist {

// An agent that has registered.
struct Member {
  std::string host;                  // the agent's id
  std::vector<IpAddress> addresses;  // ascending, without duplicates
  std::vector<IpAddress> rdma;       // those of them for which the host has an RDMA device
  Nanos joined_utc = 0;              // when it registered for the first time
  Nanos gone_utc = 0;                // when it was heard last; 0 while it is there

  bool operator==(const Member&) const = default;
};

struct Expansion {
  // `registered` is empty, and agents that `hosts:` does not name have their id as their name. A
  // probe of which no agent is a member is left out until there is one.
  Pinglist pinglist;
  // What the operator should know: agents beyond a cap.
  std::vector<std::string> warnings;
  // What is as it should be, but may surprise: agents without an RDMA device are in no rdma probe.
  std::vector<std::string> notes;
};

// The result depends on nothing but the arguments, and not on the order of `members`.
Expansion expand(const Pinglist& pinglist, const std::vector<Member>& members, Nanos now_utc);

// Returns for how long an agent that is away counts for some entry; 0 without entries.
Nanos longestForget(const Pinglist& pinglist);

}  // namespace pingloom::pinglist
