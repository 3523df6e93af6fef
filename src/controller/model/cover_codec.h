// Pairs for links in messages between controllers (docs/control-messages.md).
#pragma once

#include <optional>

#include "control.pb.h"
#include "controller/model/fabric_cover.h"

namespace pingloom::controller {

void encode(const CoverPairs& cover, wire::RelayedCover& out);
// nullopt if there is none, or it says not for which sample. Leaves out malformed pairs, and what
// exceeds plan::kMaxExtraPairs.
std::optional<CoverPairs> coverOf(const wire::Relays& told);

}  // namespace pingloom::controller
