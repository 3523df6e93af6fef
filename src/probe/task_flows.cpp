#include "probe/task_flows.h"

#include <string>
#include <utility>

namespace pingloom::probe {
namespace {

std::uint64_t keyOf(const Task& task, const IpAddress& destination) {
  const std::uint64_t probe = std::hash<std::string>()(task.assignment->probe.name);
  const std::uint64_t source = IpAddressHash()(task.assignment->source);
  const std::uint64_t address = IpAddressHash()(destination);
  return ((probe * 31 + task.path) * 31 + source) * 0x9E3779B97F4A7C15 ^
         address * 0xC2B2AE3D27D4EB4F;
}

}  // namespace

std::vector<TracedFlow> TaskFlows::list(
    const TaskList& tasks,
    const std::function<bool(std::uint32_t task, std::uint32_t target)>& traced) {
  std::vector<TracedFlow> flows;
  places_.assign(tasks.tasks().size() - (tasks.hasBurst() ? 1 : 0), {});
  for (std::uint32_t t = 0; t < places_.size(); ++t) {
    const auto& destinations = tasks.tasks()[t].assignment->destinations;
    places_[t].assign(destinations.size(), kNone);
    for (std::uint32_t i = 0; i < destinations.size(); ++i) {
      if (destinations[i] == tasks.tasks()[t].assignment->source || !traced(t, i)) continue;
      places_[t][i] = static_cast<std::uint32_t>(flows.size());
      flows.push_back({t, i, keyOf(tasks.tasks()[t], destinations[i])});
    }
  }
  return flows;
}

std::optional<std::size_t> TaskFlows::placeOf(std::uint32_t task, std::uint32_t target) const {
  if (task >= places_.size() || target >= places_[task].size()) return std::nullopt;
  if (places_[task][target] == kNone) return std::nullopt;
  return places_[task][target];
}

wire::ProbeMessage tracePing(const TracePacket& packet, ClockSource clock,
                             const AgentContext& context) {
  wire::ProbeMessage message;
  message.type = wire::ProbeType::kPing;
  message.clock = static_cast<std::uint8_t>(clock);
  message.length = wire::kPingMinBytes;
  message.id = std::uint32_t{packet.hop_limit} << ExchangeTable::kSlotBits;
  message.nonce = packet.nonce;
  message.incarnation = context.incarnation;
  return message;
}

TracedPath tracedPathOf(FinishedTrace&& trace, const Task& task, const AgentContext& context,
                        Nanos now) {
  TracedPath path;
  path.probe = task.assignment->probe.name;
  path.source = task.assignment->source;
  path.destination = task.assignment->destinations[trace.flow.target];
  path.path = task.path;
  path.hops = std::move(trace.hops);
  path.end = trace.end;
  path.destination_rtt = trace.destination_rtt;
  path.traced = context.clock->utc(now);
  return path;
}

}  // namespace pingloom::probe
