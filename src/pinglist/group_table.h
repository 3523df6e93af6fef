// Reads the `groups:` section: lists with a name, which the lists of probes may use. One thread.
#pragma once

#include "common/error.h"
#include "common/yaml.h"
#include "pinglist/address_list.h"
#include "pinglist/host_table.h"
#include "pinglist/warnings.h"

namespace pingloom::pinglist {

constexpr std::size_t kMaxGroups = 1024;

// A group has the members that it lists itself, so a group in a group is an error. So is a name
// that is also a host's.
Result<Groups> readGroups(const yaml::Node& section, const HostTable& hosts, Warnings& warnings);

}  // namespace pingloom::pinglist
