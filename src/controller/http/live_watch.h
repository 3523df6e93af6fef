// Parses the message in which a viewer of the live WebSocket names a probe and a metric. Any
// thread.
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
  // The state with which the viewer was in sync; an empty epoch: none.
  std::string epoch;
  std::uint64_t generation = 0;
  std::uint32_t sequence = 0;
};

// Parses "watch PROBE METRIC [EPOCH GENERATION SEQUENCE]". Returns nullopt for any other text;
// `message` comes from outside.
std::optional<LiveWatch> parseLiveWatch(std::string_view message);

}  // namespace pingloom::controller
