// Converts BurstPing from and to wire::BurstPing (control.proto). Any thread; no state.
#pragma once

#include "common/burst.h"
#include "common/error.h"
#include "control.pb.h"

namespace pingloom::wire {

void encode(const pingloom::BurstPing& ping, BurstPing& out);
// The bytes come from outside: values that are out of bounds or inconsistent are refused.
Result<pingloom::BurstPing> decode(const BurstPing& in);

}  // namespace pingloom::wire
