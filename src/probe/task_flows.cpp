#include "probe/task_flows.h"

#include <functional>
#include <string>
#include <utility>

namespace pingloom::probe {

std::uint64_t flowKeyOf(const Task& task, const IpAddress& destination) {
  const std::uint64_t probe = std::hash<std::string>()(task.assignment->probe.name);
  const std::uint64_t source = IpAddressHash()(task.assignment->source);
  const std::uint64_t address = IpAddressHash()(destination);
  return ((probe * 31 + task.path) * 31 + source) * 0x9E3779B97F4A7C15 ^
         address * 0xC2B2AE3D27D4EB4F;
}

TracedPath tracedPathOf(FinishedTrace&& trace, const Task& task, const IpAddress& source,
                        Nanos traced_utc) {
  TracedPath path;
  path.probe = task.assignment->probe.name;
  path.source = source;
  path.destination = task.assignment->destinations[trace.flow.target];
  path.path = task.path;
  path.hops = std::move(trace.hops);
  path.end = trace.end;
  path.destination_rtt = trace.destination_rtt;
  path.traced = traced_utc;
  return path;
}

}  // namespace pingloom::probe
