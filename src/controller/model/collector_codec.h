// The registrations of collectors in messages between controllers (docs/control-messages.md).
#pragma once

#include "common/time.h"
#include "control.pb.h"
#include "controller/model/collector_roster.h"

namespace pingloom::controller {

// Adds those that are not forgotten yet. A time travels as an age, so clocks may differ.
void encode(const CollectorRegistrations& own, Nanos now_mono, wire::Relays& out);
// Leaves out what is malformed, what is older than kForget, and what exceeds CollectorRoster::kMax.
// The URLs are only bounded.
CollectorRegistrations collectorsOf(const wire::Relays& told, Nanos now_mono);

}  // namespace pingloom::controller
