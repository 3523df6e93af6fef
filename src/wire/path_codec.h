// TracedPath <-> wire::TracedPath (control.proto). Any thread; no state.
#pragma once

#include <cstddef>

#include "common/error.h"
#include "common/traced_path.h"
#include "control.pb.h"

namespace pingloom::wire {

constexpr std::size_t kMaxReportedPaths = 256;  // in one PathReport

void encode(const pingloom::TracedPath& path, TracedPath& out);
// The bytes come from outside: more than kMaxPathHops hops, and addresses that no router or host
// can have, are refused.
Result<pingloom::TracedPath> decode(const TracedPath& in);

}  // namespace pingloom::wire
