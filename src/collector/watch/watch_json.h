// The JSON of what the watch of pages says (docs/collector.md). Functions without state; any
// thread.
#pragma once

#include <nlohmann/json.hpp>

#include "collector/watch/watch_event.h"

namespace pingloom::collector {

nlohmann::ordered_json deviationJson(const Deviation& deviation);
nlohmann::ordered_json eventJson(const WatchEvent& event);

}  // namespace pingloom::collector
