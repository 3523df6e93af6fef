// BurstPing <-> wire::BurstPing (control.proto). Any thread; no state.
#pragma once

#include "common/burst.h"
#include "common/error.h"
#include "control.pb.h"

namespace pingloom::wire {

void encode(const pingloom::BurstPing& ping, BurstPing& out);
// The bytes come from outside: anything out of bounds or that contradicts itself is refused.
Result<pingloom::BurstPing> decode(const BurstPing& in);

}  // namespace pingloom::wire
