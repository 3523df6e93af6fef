// The two ways of writing a pinglist. One thread.
#pragma once

#include "common/error.h"
#include "common/yaml.h"
#include "pinglist/pinglist.h"
#include "pinglist/warnings.h"

namespace pingloom::pinglist {

// version, defaults, hosts, probes.
Result<Pinglist> parseNative(const yaml::Node& root, Warnings& warnings);

// mesh and arrow at the top, then protocol and group, as PingWeave has them.
Result<Pinglist> parsePingWeave(const yaml::Node& root, Warnings& warnings);

}  // namespace pingloom::pinglist
