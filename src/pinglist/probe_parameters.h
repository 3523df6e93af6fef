// Reads the keys that `defaults:` and a probe share. One thread.
#pragma once

#include <string_view>
#include <vector>

#include "common/error.h"
#include "common/yaml.h"
#include "pinglist/warnings.h"
#include "plan/plan.h"

namespace pingloom::pinglist {

// Returns interval, timeout, window, traffic_class, payload.
const std::vector<std::string_view>& parameterNames();

// Sets the parameters that the map contains.
Status readParameters(const yaml::Node& map, plan::ProbeSpec& spec);

// Reads protocol, self, port and paths, which only a probe has, and checks what depends on several
// keys. Call it after readParameters().
Status readProtocol(const yaml::Node& probe, plan::ProbeSpec& spec, Warnings& warnings);

// Checks that the window holds at least one interval. An error names the position of `probe`.
Status checkWindow(const yaml::Node& probe, const plan::ProbeSpec& spec);

}  // namespace pingloom::pinglist
