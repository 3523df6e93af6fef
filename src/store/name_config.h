// Names of stores and tables in configurations. Pure functions; any thread.
#pragma once

#include <string>

#include "common/error.h"
#include "common/yaml.h"

namespace pingloom::store {

// Reads a name as isName() permits it, because it becomes a part of paths and URLs.
Status readName(const yaml::Node& node, std::string& out);

}  // namespace pingloom::store
