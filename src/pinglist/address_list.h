// Reads a list of a pinglist (mesh, from, to): addresses, ranges and host names. One thread.
#pragma once

#include "common/error.h"
#include "common/yaml.h"
#include "pinglist/host_table.h"
#include "pinglist/warnings.h"
#include "plan/plan.h"

namespace pingloom::pinglist {

// 0.0.0.0 in a list: an error, or PingWeave's way of keeping a group from being empty.
enum class Placeholders { kRefuse, kIgnore };

// Sorted, each address once. An address that is there twice is worth a warning. A list without
// entries is an error; one of placeholders only comes back empty.
Result<plan::AddressList> readAddressList(const yaml::Node& node, const HostTable& hosts,
                                          Placeholders placeholders, Warnings& warnings);

}  // namespace pingloom::pinglist
