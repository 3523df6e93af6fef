// The routers that the packets of one flow pass, as a host has traced them. A flow is a pair of one
// probe on one of its paths (docs/paths.md). Plain values.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "common/address.h"
#include "common/time.h"

namespace pingloom {

struct PathHop {
  IpAddress router;  // the source of its ICMP message; unspecified if it did not answer
  Nanos rtt = 0;     // until that message came, by the tracing process's clock

  bool isKnown() const { return !router.isUnspecified(); }
  bool operator==(const PathHop&) const = default;
};

// Why a trace ended.
enum class PathEnd : std::uint8_t {
  kReached = 1,  // the destination answered
  kSilent = 2,   // neither a router nor the destination answered any more
  kLoop = 3,     // a router appeared again and again
  kTooLong = 4,  // more than kMaxPathHops
};
constexpr std::size_t kMaxPathHops = 32;

// How much is known of a path.
enum class PathState : std::uint8_t { kTraced, kPartial, kUnknown };
constexpr std::string_view name(PathState state) {
  switch (state) {
    case PathState::kTraced:
      return "traced";
    case PathState::kPartial:
      return "partial";
    case PathState::kUnknown:
      break;
  }
  return "unknown";
}
constexpr std::string_view name(PathEnd end) {
  switch (end) {
    case PathEnd::kReached:
      return "reached";
    case PathEnd::kSilent:
      return "silent";
    case PathEnd::kLoop:
      return "loop";
    case PathEnd::kTooLong:
      break;
  }
  return "too_long";
}

struct TracedPath {
  std::string probe;
  IpAddress source;
  IpAddress destination;
  std::uint32_t path = 0;  // as in rows: 0 if the probe has one path
  // The path is that of one TCP connection, from source_port. The pair's other connections have
  // other ports, and may take other paths.
  bool one_connection = false;
  // Ports of the flow's packets; 0 where they are not known. The controller hears no ports but the
  // source port of a TCP connection.
  std::uint16_t source_port = 0;
  std::uint16_t destination_port = 0;
  std::vector<PathHop> hops;  // the routers; the destination is not among them
  PathEnd end = PathEnd::kSilent;
  Nanos destination_rtt = 0;  // if it was reached
  Nanos traced = 0;           // when the trace ended, UTC by the controller's clock

  // A path is traced if the destination answered and every router before it did.
  PathState state() const {
    const auto known =
        std::count_if(hops.begin(), hops.end(), [](const PathHop& hop) { return hop.isKnown(); });
    const bool all = static_cast<std::size_t>(known) == hops.size();
    if (end == PathEnd::kReached && all) return PathState::kTraced;
    return known > 0 || end == PathEnd::kReached ? PathState::kPartial : PathState::kUnknown;
  }
};

}  // namespace pingloom
