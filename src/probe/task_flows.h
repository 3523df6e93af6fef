// What the tracers of different transports have in common: which flows there are, trace packets as
// PINGs, and the paths they hand on. One thread.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "common/traced_path.h"
#include "probe/exchange_table.h"
#include "probe/path_tracer.h"
#include "probe/task_list.h"
#include "probe/transport.h"
#include "wire/probe_packet.h"

namespace pingloom::probe {

// The flows of all tasks but a burst's, whose pair is in another task too.
class TaskFlows {
 public:
  // `traced(task, target)` says whether a flow is traced. Returns the list for
  // PathTracer::setFlows().
  std::vector<TracedFlow> list(
      const TaskList& tasks,
      const std::function<bool(std::uint32_t task, std::uint32_t target)>& traced);
  // The place of a flow in the list; nullopt if it is not traced.
  std::optional<std::size_t> placeOf(std::uint32_t task, std::uint32_t target) const;

 private:
  static constexpr std::uint32_t kNone = ~0U;

  std::vector<std::vector<std::uint32_t>> places_;  // [task][target]
};

// Whether a message with this id is a trace packet or answers one, if anything: no exchange has an
// id with these bits zero, because slot 0 of its table is never used.
constexpr bool isTraceId(std::uint32_t id) {
  return (id & ((1U << ExchangeTable::kSlotBits) - 1)) == 0;
}

// The PING of a trace packet, without q_key and answer_label.
wire::ProbeMessage tracePing(const TracePacket& packet, ClockSource clock,
                             const AgentContext& context);

// The path that a trace of this task has found at `now` (monotonic), without ports.
TracedPath tracedPathOf(FinishedTrace&& trace, const Task& task, const AgentContext& context,
                        Nanos now);

}  // namespace pingloom::probe
