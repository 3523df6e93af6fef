// Traces the paths of TCP pairs: PathTracer's packets are the SYNs of connects with a small hop
// limit, all from one port, and what is found is published. A pair's trace is that of a connect
// which nobody has answered, from the very port, or else of one from a port that the kernel
// chooses, like those of the probe. One thread.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "common/fd.h"
#include "common/time.h"
#include "net/rx_batch.h"
#include "probe/event_loop.h"
#include "probe/path_tracer.h"
#include "probe/task_flows.h"
#include "probe/tcp/connect_table.h"
#include "probe/tcp/prober.h"
#include "probe/transport.h"

namespace pingloom::probe::tcp {

// Nothing is traced without AgentContext::paths, nor from an address to itself. The context, the
// loop and the prober outlive this. Bounds: PathTracer's; each packet in flight has a socket.
class FlowTracer {
 public:
  // Where the keys begin by which the loop watches the packets; they are below kEndOfKeys.
  static constexpr std::uint64_t kFirstKey = std::uint64_t{1} << 31;
  static constexpr std::uint64_t kEndOfKeys = ConnectTable::kFirstKey;

  FlowTracer(const AgentContext& context, const EventLoop& loop, const Prober& prober)
      : context_(context),
        loop_(loop),
        prober_(prober),
        pace_(context.trace_budget),
        tracer_(pace_) {}

  // Called when the prober has other tasks.
  void workChanged();
  // Nobody has answered a connect from this port, which is free again.
  void silent(std::uint32_t task, std::uint32_t target, std::uint16_t port, Nanos now);
  void onReady(std::uint64_t key, Nanos now);
  void elapse(Nanos now);
  Nanos nextWake() const { return tracer_.nextWake(); }

 private:
  struct Syn {
    UniqueFd socket;
    std::uint64_t key = 0;
    std::uint64_t nonce = 0;
    IpAddress target;
    Nanos sent = 0;
  };

  // Names a flow by its numbers, which hold until workChanged().
  static std::uint64_t numberOf(std::uint32_t task, std::uint32_t target) {
    return std::uint64_t{task} << 32 | target;
  }
  // Returns false if the packet cannot leave from the trace's port, or at all.
  bool post(const TracePacket& packet, Nanos now);
  void publish(Nanos now);

  const AgentContext& context_;
  const EventLoop& loop_;
  const Prober& prober_;
  TracePace pace_;
  PathTracer tracer_;
  TaskFlows flows_;
  // The ports of traces in progress, and of those that are to come for a silent connect. A flow has
  // one trace at a time.
  std::unordered_map<std::uint64_t, std::uint16_t> ports_;
  std::vector<Syn> syns_;  // in flight
  std::uint64_t next_key_ = kFirstKey;
  net::RxBatch errors_;
};

}  // namespace pingloom::probe::tcp
