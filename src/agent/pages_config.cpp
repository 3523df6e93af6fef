#include "agent/pages_config.h"

#include <grp.h>
#include <pwd.h>
#include <sys/un.h>

#include <array>
#include <string_view>
#include <vector>

#include "common/text.h"
#include "rdma/open_device.h"

namespace pingloom::agent {
namespace {

// Every page of two ranges is a mapping of its own, of which Linux gives a process 65,530.
constexpr std::size_t kMaxPages = 8192;
constexpr std::size_t kMaxNames = 64;

Status readAddress(const yaml::Node& node, PagesConfig& config) {
  const auto text = node.text();
  if (!text) return tl::unexpected(text.error());
  const auto address = IpAddress::parse(*text);
  if (!address) return node.error(address.error().text());
  config.address = *address;
  return {};
}

Status readPagesPort(const yaml::Node& node, PagesConfig& config) {
  const auto port = node.number(1, 65535);
  if (!port) return tl::unexpected(port.error());
  config.port = static_cast<std::uint16_t>(*port);
  return {};
}

Status readPagesDevice(const yaml::Node& node, PagesConfig& config) {
  const auto text = node.text();
  if (!text) return tl::unexpected(text.error());
  const auto parsed = rdma::parseDeviceName(*text, config.device.emplace());
  return parsed ? parsed : node.error(parsed.error().text());
}

Status readSocket(const yaml::Node& node, PagesConfig& config) {
  const auto text = node.text();
  if (!text) return tl::unexpected(text.error());
  if (text->empty() || text->size() >= sizeof(sockaddr_un::sun_path)) {
    return node.error("the path of a unix socket has 1 to 107 bytes");
  }
  config.registration.socket = *text;
  return {};
}

Status readPages(const yaml::Node& node, std::size_t& out) {
  const auto number = node.number(1, kMaxPages);
  if (!number) return tl::unexpected(number.error());
  out = *number;
  return {};
}

// Numbers or names, as getpwnam and getgrnam know them.
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

struct PagesKey {
  std::string_view name;
  Status (*read)(const yaml::Node&, PagesConfig&);
};
constexpr std::array<PagesKey, 8> kPagesKeys = {
    {{"address", readAddress},
     {"port", readPagesPort},
     {"device", readPagesDevice},
     {"socket", readSocket},
     {"users", readUsers},
     {"groups", readGroups},
     {"max_pages", [](const yaml::Node& node,
                      PagesConfig& config) { return readPages(node, config.limits.pages); }},
     {"max_pages_per_user", [](const yaml::Node& node, PagesConfig& config) {
        return readPages(node, config.limits.pages_per_user);
      }}}};

}  // namespace

Result<PagesConfig> parsePagesConfig(const yaml::Node& node) {
  PagesConfig config;
  std::vector<std::string_view> names;
  names.reserve(kPagesKeys.size());
  for (const PagesKey& key : kPagesKeys) names.push_back(key.name);
  if (node.isNull()) return config;  // `pages:` alone: as they come
  if (auto status = node.onlyKeys(names); !status) return tl::unexpected(status.error());
  for (const PagesKey& key : kPagesKeys) {
    const auto found = node.find(key.name);
    if (!found) continue;
    if (auto status = key.read(*found, config); !status) return tl::unexpected(status.error());
  }
  return config;
}

}  // namespace pingloom::agent
