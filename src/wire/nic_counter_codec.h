// NicUpdate <-> wire::CounterUpdate (control.proto). Any thread; no state.
#pragma once

#include "common/error.h"
#include "common/nic_counter.h"
#include "control.pb.h"

namespace pingloom::wire {

void encode(const NicUpdate& update, CounterUpdate& out);
// The bytes come from outside: an update with more than kMaxNicPorts ports or kMaxNicCounters
// counters, with a malformed device, or with the same port or counter twice is refused. A counter
// that this version does not know is left out.
Result<NicUpdate> decode(const CounterUpdate& in);

}  // namespace pingloom::wire
