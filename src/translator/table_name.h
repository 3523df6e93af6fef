// How the translator's configuration refers to a table of the store: by its name or its number.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "common/error.h"
#include "common/yaml.h"
#include "store/layout.h"

namespace pingloom::translator {

// Reads a name or a number from 1 to 65535.
Status readTable(const yaml::Node& node, std::string& out);
// Returns nullopt if the store has no such table. A name of digits takes precedence over a number.
std::optional<std::uint16_t> numberOf(const std::string& table, const store::Head& head);

// Logs the tables that a section of the configuration names and the store does not have, if any.
void warnOfUnknown(std::string_view section, const std::set<std::string>& tables);

}  // namespace pingloom::translator
