#include "pinglist/group_table.h"

#include <utility>

#include "pinglist/plan_builder.h"
#include "plan/plan_codec.h"

namespace pingloom::pinglist {
namespace {

Status checkName(const yaml::Node& key, const std::string& name, const HostTable& hosts) {
  if (!plan::validProbeName(name) || IpAddress::parse(name)) {
    return key.error("'" + name +
                     "' is no group name: 1 to 64 characters of A-Z a-z 0-9 . _ - make one");
  }
  if (name == kRegistered)
    return key.error("'registered' stands for all agents; name it otherwise");
  const auto host = hosts.find(name);
  if (!host || host->has_value()) return key.error("'" + name + "' is a host's name already");
  return {};
}

Result<MemberList> readGroup(const yaml::Node& body, const HostTable& hosts, Warnings& warnings) {
  static const Groups none;  // a group knows no other
  if (!body.isMap()) return body.error("expected 'members:', such as { members: registered }");
  if (auto status = body.onlyKeys({"members"}); !status) return tl::unexpected(status.error());
  const auto members = body.find("members");
  if (!members) return body.error("the group has no 'members'");
  return readMembers(*members, hosts, &none, Placeholders::kRefuse, warnings);
}

}  // namespace

Result<Groups> readGroups(const yaml::Node& section, const HostTable& hosts, Warnings& warnings) {
  Groups groups;
  if (section.isNull()) return groups;
  if (!section.isMap()) return section.error("expected groups: { NAME: { members: [...] } }");
  if (auto status = section.uniqueKeys(); !status) return tl::unexpected(status.error());
  const auto entries = section.entries();
  if (entries.size() > kMaxGroups) {
    return section.error("more than " + std::to_string(kMaxGroups) + " groups");
  }
  std::size_t addresses = 0;
  for (const auto& [key, body] : entries) {
    const auto name = key.text();
    if (!name) return tl::unexpected(name.error());
    if (auto status = checkName(key, *name, hosts); !status) return tl::unexpected(status.error());
    auto members = readGroup(body, hosts, warnings);
    if (!members) return tl::unexpected(members.error());
    addresses += members->addresses.size();
    if (addresses > PlanBuilder::kMaxAddresses) {
      return section.error("the groups hold more than " +
                           std::to_string(PlanBuilder::kMaxAddresses) + " addresses together");
    }
    groups.emplace(*name, std::move(*members));
  }
  return groups;
}

}  // namespace pingloom::pinglist
