// Reads a list of a pinglist (mesh, from, to, members of a group): addresses, ranges, names of
// hosts and groups, and `registered`. One thread.
#pragma once

#include "common/error.h"
#include "common/yaml.h"
#include "pinglist/host_table.h"
#include "pinglist/registered.h"
#include "pinglist/warnings.h"
#include "plan/plan.h"

namespace pingloom::pinglist {

// How to treat 0.0.0.0 in a list: as an error, or as PingWeave's placeholder in an empty group.
enum class Placeholders { kRefuse, kIgnore };

struct MemberList {
  plan::AddressList addresses;               // ascending, without duplicates
  std::vector<RegisteredFilter> registered;  // without duplicates
};
using Groups = std::map<std::string, MemberList>;

// A duplicate address causes a warning. `registered` or the name of a group may stand alone instead
// of a list. A list without entries is an error; a list of placeholders only yields an empty
// result. `groups` is nullptr where neither groups nor `registered` may stand.
Result<MemberList> readMembers(const yaml::Node& node, const HostTable& hosts, const Groups* groups,
                               Placeholders placeholders, Warnings& warnings);

}  // namespace pingloom::pinglist
