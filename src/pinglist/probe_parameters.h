// How a probe probes: the keys that `defaults:` and a probe have in common. One thread.
#pragma once

#include <string_view>
#include <vector>

#include "common/error.h"
#include "common/yaml.h"
#include "pinglist/warnings.h"
#include "plan/plan.h"

namespace pingloom::pinglist {

// interval, timeout, window, traffic_class, payload.
const std::vector<std::string_view>& parameterNames();

// Sets those that the map names.
Status readParameters(const yaml::Node& map, plan::ProbeSpec& spec);

// protocol, self, port and paths, which only a probe has, and what depends on several keys. Call
// after readParameters().
Status readProtocol(const yaml::Node& probe, plan::ProbeSpec& spec, Warnings& warnings);

// The window holds at least one interval. `probe` is where to complain.
Status checkWindow(const yaml::Node& probe, const plan::ProbeSpec& spec);

}  // namespace pingloom::pinglist
