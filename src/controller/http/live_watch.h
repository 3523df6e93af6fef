// What a viewer of the live WebSocket says: which figures of which probe it wants. Any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "controller/http/metric.h"

namespace pingloom::controller {

struct LiveWatch {
  std::string probe;
  Metric metric;
  // What it was in sync with before; an empty epoch: with nothing.
  std::string epoch;
  std::uint64_t generation = 0;
  std::uint32_t sequence = 0;
};

// "watch PROBE METRIC [EPOCH GENERATION SEQUENCE]"; nullopt: anything else. `message` comes from
// outside.
std::optional<LiveWatch> parseLiveWatch(std::string_view message);

}  // namespace pingloom::controller
