// Takes over what an agent's heartbeat says about itself. Any thread; no state.
#pragma once

#include "control.pb.h"
#include "controller/model/board.h"

namespace pingloom::controller {

inline void copyStatus(const wire::AgentStatus& status, AgentInfo& info) {
  info.spooled_batches = status.spooled_batches();
  info.spooled_bytes = status.spooled_bytes();
  info.spool_dropped = status.spool_dropped();
  info.pings_sent = status.pings_sent();
  info.pings_skipped = status.pings_skipped();
  info.stalls = status.stalls();
  info.refused_packets = status.refused_packets();
}

}  // namespace pingloom::controller
