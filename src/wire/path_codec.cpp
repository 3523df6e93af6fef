#include "wire/path_codec.h"

#include <optional>
#include <utility>

namespace pingloom::wire {
namespace {

// Longer times are not round trips; kTimeout of the tracer is much shorter.
constexpr Nanos kMaxRtt = kMinute;

bool canBeRouter(const IpAddress& address) {
  if (address.isUnspecified()) return false;
  const std::uint8_t first = address.bytes()[0];
  return address.isV4() ? first < 224 : first != 0xFF;  // neither multicast nor broadcast
}

std::optional<Nanos> rttOf(std::uint64_t ns) {
  if (ns > static_cast<std::uint64_t>(kMaxRtt)) return std::nullopt;
  return static_cast<Nanos>(ns);
}

}  // namespace

void encode(const pingloom::TracedPath& path, TracedPath& out) {
  out.set_probe(path.probe);
  out.set_source(path.source.wire());
  out.set_destination(path.destination.wire());
  out.set_path(path.path);
  for (const pingloom::PathHop& hop : path.hops) {
    PathHop& to = *out.add_hops();
    if (!hop.isKnown()) continue;
    to.set_router(hop.router.wire());
    to.set_rtt_ns(static_cast<std::uint64_t>(hop.rtt));
  }
  out.set_end(static_cast<TracedPath::End>(path.end));
  out.set_destination_rtt_ns(static_cast<std::uint64_t>(path.destination_rtt));
  out.set_traced_utc_ns(path.traced);
  if (path.one_connection) out.set_source_port(path.source_port);
}

Result<pingloom::TracedPath> decode(const TracedPath& in) {
  const auto refused = [](const char* why) { return makeError("path", why); };
  const auto source = IpAddress::fromWire(in.source());
  const auto destination = IpAddress::fromWire(in.destination());
  if (in.probe().empty()) return refused("names no probe");
  if (!source || !destination) return refused("its source or destination is malformed");
  if (static_cast<std::size_t>(in.hops_size()) > kMaxPathHops) return refused("has too many hops");
  if (in.end() < TracedPath::REACHED || in.end() > TracedPath::TOO_LONG) {
    return refused("its end is unknown");
  }
  if (in.source_port() > UINT16_MAX) return refused("its source port is out of bounds");
  pingloom::TracedPath made;
  made.probe = in.probe();
  made.source = *source;
  made.destination = *destination;
  made.path = in.path();
  made.end = static_cast<PathEnd>(in.end());
  made.traced = in.traced_utc_ns();
  made.source_port = static_cast<std::uint16_t>(in.source_port());
  made.one_connection = made.source_port != 0;
  for (const PathHop& hop : in.hops()) {
    if (hop.router().empty()) {
      made.hops.push_back({});
      continue;
    }
    const auto router = IpAddress::fromWire(hop.router());
    const auto rtt = rttOf(hop.rtt_ns());
    if (!router || !canBeRouter(*router)) {
      return refused("a router's address is malformed");
    }
    if (!rtt) return refused("a round trip is longer than a minute");
    made.hops.push_back({*router, *rtt});
  }
  const auto rtt = rttOf(in.destination_rtt_ns());
  if (!rtt) return refused("a round trip is longer than a minute");
  made.destination_rtt = *rtt;
  return made;
}

}  // namespace pingloom::wire
