// Parsers for the two forms of a pinglist. One thread.
#pragma once

#include "common/error.h"
#include "common/yaml.h"
#include "pinglist/pinglist.h"
#include "pinglist/warnings.h"

namespace pingloom::pinglist {

// Parses the native form: version, defaults, hosts, probes. `now_utc` is as in parse().
Result<Pinglist> parseNative(const yaml::Node& root, Nanos now_utc, Warnings& warnings);

// Parses PingWeave's form: mesh and arrow at the top, then protocol and group.
Result<Pinglist> parsePingWeave(const yaml::Node& root, Warnings& warnings);

}  // namespace pingloom::pinglist
