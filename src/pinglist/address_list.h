// Reads a list of a pinglist (mesh, from, to): addresses, ranges and host names. One thread.
#pragma once

#include "common/error.h"
#include "common/yaml.h"
#include "pinglist/host_table.h"
#include "pinglist/warnings.h"
#include "plan/plan.h"

namespace pingloom::pinglist {

// How to treat 0.0.0.0 in a list: as an error, or as PingWeave's placeholder in an empty group.
enum class Placeholders { kRefuse, kIgnore };

// Returns the addresses sorted and without duplicates; a duplicate causes a warning. A list without
// entries is an error; a list of placeholders only yields an empty result.
Result<plan::AddressList> readAddressList(const yaml::Node& node, const HostTable& hosts,
                                          Placeholders placeholders, Warnings& warnings);

}  // namespace pingloom::pinglist
