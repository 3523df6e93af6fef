// Chooses the counters of an accused host's NICs and ports that belong to the evidence, and writes
// the clause that names them in an incident's sentence (docs/counters.md). Pure.
#pragma once

#include <string>
#include <vector>

#include "controller/model/host_counters.h"
#include "controller/model/incident.h"
#include "controller/verdict/finding.h"

namespace pingloom::controller {

// A counter is evidence if it moved within this time before the evidence is taken. Growth is known
// by whole minutes, so the time may be a minute longer.
constexpr Nanos kCounterLookBack = 2 * kMinute;
// A counter of load is evidence only if it moves more than this many times as fast as before, ...
constexpr std::uint64_t kUnusualLoad = 10;
// ... and if its earlier rate is known for at least this long.
constexpr Nanos kUsualLoad = 5 * kMinute;

// Returns the numbers of the hosts that a finding accuses: one, or both ends of a pair. A group, a
// probe, and agents that are gone together accuse nobody's NIC.
std::vector<std::uint32_t> accusedHosts(const Places& places, const Finding& finding);

// Appends the counters of a host that moved: errors that moved at all, and load that moves
// unusually fast.
void appendMoved(const std::string& host, const HostCounters& counters, Nanos now_utc,
                 std::vector<MovedCounter>& into);

// Sorts errors before load, and then by how much they moved, and keeps the first
// Incident::kMaxCounters.
void rankMoved(std::vector<MovedCounter>& moved);

// Returns e.g. ", and port mlx5_0/1: symbol_error +1,204 in the same minute"; "" if none moved.
std::string clauseOf(const std::vector<MovedCounter>& moved, Nanos opened_utc);

}  // namespace pingloom::controller
