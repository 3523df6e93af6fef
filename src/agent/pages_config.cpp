#include "agent/pages_config.h"

#include <grp.h>
#include <pwd.h>
#include <sys/un.h>

#include <array>
#include <string_view>
#include <vector>

#include "common/config_reader.h"
#include "common/text.h"
#include "rdma/open_device.h"

namespace pingloom::agent {
namespace {

// Every page of two ranges is a mapping of its own, and Linux permits 65,530 in a process.
constexpr std::size_t kMaxPages = 8192;
constexpr std::size_t kMaxNames = 64;

Status readSocket(const yaml::Node& node, PagesConfig& config) {
  auto& socket = config.registration.socket;
  if (auto status = pingloom::readValue(node, socket); !status) return status;
  if (socket.native().size() < sizeof(sockaddr_un::sun_path)) return {};
  return node.error("the path of a unix socket has 1 to 107 bytes");
}

// Reads numbers or names that getpwnam or getgrnam resolves.
template <typename Id, typename Find>
Status readIds(const yaml::Node& node, std::string_view what, Find find, std::vector<Id>& out) {
  const auto items = node.items();
  if (!node.isSequence() || items.empty() || items.size() > kMaxNames) {
    return node.error("expected a list of 1 to 64 " + std::string(what) + "s");
  }
  for (const yaml::Node& item : items) {
    const auto text = item.text();
    if (!text) return tl::unexpected(text.error());
    if (const auto number = parseUnsigned(*text, 0xFFFFFFFE)) {
      out.push_back(static_cast<Id>(*number));
      continue;
    }
    const auto id = find(*text);
    if (!id) return item.error("there is no " + std::string(what) + " '" + *text + "' here");
    out.push_back(*id);
  }
  return {};
}

Status readUsers(const yaml::Node& node, PagesConfig& config) {
  const auto find = [](const std::string& name) -> std::optional<uid_t> {
    const passwd* entry = getpwnam(name.c_str());
    return entry == nullptr ? std::nullopt : std::optional(entry->pw_uid);
  };
  return readIds(node, "user", find, config.registration.users);
}

Status readGroups(const yaml::Node& node, PagesConfig& config) {
  const auto find = [](const std::string& name) -> std::optional<gid_t> {
    const group* entry = getgrnam(name.c_str());
    return entry == nullptr ? std::nullopt : std::optional(entry->gr_gid);
  };
  return readIds(node, "group", find, config.registration.groups);
}

constexpr auto kPagesKeys = std::to_array<ConfigKey<PagesConfig>>({
    {"address", readField<&PagesConfig::address>},
    {"port", [](const yaml::Node& node,
                PagesConfig& config) { return readNumber(node, 1, 65535, config.port); }},
    {"device", readField<&PagesConfig::device>},
    {"socket", readSocket},
    {"users", readUsers},
    {"groups", readGroups},
    {"max_pages",
     [](const yaml::Node& node, PagesConfig& config) {
       return readNumber(node, 1, kMaxPages, config.limits.pages);
     }},
    {"max_pages_per_user",
     [](const yaml::Node& node, PagesConfig& config) {
       return readNumber(node, 1, kMaxPages, config.limits.pages_per_user);
     }},
    {"system", readField<&PagesConfig::system>},
});

}  // namespace

Status readValue(const yaml::Node& node, PagesConfig& config) {
  if (node.isNull()) return {};  // `pages:` alone selects the defaults
  return readMap(node, kPagesKeys, config);
}

}  // namespace pingloom::agent
