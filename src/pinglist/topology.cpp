#include "pinglist/topology.h"

#include <unordered_map>
#include <utility>

#include "common/file.h"
#include "common/text.h"
#include "common/yaml.h"

namespace pingloom::pinglist {
namespace {

class Reader {
 public:
  Status readSwitch(const yaml::Node& key, const yaml::Node& node);
  Topology take() { return std::move(topology_); }

 private:
  Status readAddress(const yaml::Node& node, Switch& into);

  Topology topology_;
  std::unordered_map<IpAddress, std::string, IpAddressHash> owners_;
};

Status Reader::readAddress(const yaml::Node& node, Switch& into) {
  const auto text = node.text();
  if (!text) return tl::unexpected(text.error());
  const auto address = IpAddress::parse(*text);
  if (!address) return node.error(address.error().text());
  const auto [owner, fresh] = owners_.try_emplace(*address, into.name);
  if (!fresh) return node.error("address " + *text + " already belongs to " + owner->second);
  if (owners_.size() > Topology::kMaxAddresses) {
    return node.error("the topology has more than 65,536 addresses");
  }
  into.addresses.push_back(*address);
  return {};
}

Status Reader::readSwitch(const yaml::Node& key, const yaml::Node& node) {
  const auto name = key.text();
  if (!name) return tl::unexpected(name.error());
  if (name->empty() || name->size() > Topology::kMaxNameBytes || hasControls(*name)) {
    return key.error("a switch's name has 1 to 64 bytes without control characters");
  }
  if (auto status = node.onlyKeys({"tier", "addresses"}); !status) return status;
  Switch& made = topology_.switches.emplace_back();
  made.name = *name;
  if (const auto tier = node.find("tier")) {
    const auto number = tier->number(1, Topology::kMaxTier);
    if (!number) return tl::unexpected(number.error());
    made.tier = static_cast<std::uint32_t>(*number);
  }
  const auto addresses = node.find("addresses");
  if (!addresses || !addresses->isSequence()) {
    return node.error("switch '" + *name + "' needs 'addresses': a list, such as [10.2.0.1]");
  }
  for (const yaml::Node& address : addresses->items()) {
    if (auto status = readAddress(address, made); !status) return status;
  }
  return {};
}

}  // namespace

Result<Topology> parseTopology(std::string_view text, std::string_view file) {
  const auto root = yaml::parse(text, file);
  if (!root) return tl::unexpected(root.error());
  if (auto status = root->onlyKeys({"switches"}); !status) return tl::unexpected(status.error());
  const auto switches = root->find("switches");
  if (!switches || !switches->isMap()) {
    return root->error("write 'switches:' and below it NAME: { tier: 1, addresses: [...] }");
  }
  if (auto status = switches->uniqueKeys(); !status) return tl::unexpected(status.error());
  Reader reader;
  for (const auto& [key, node] : switches->entries()) {
    if (auto status = reader.readSwitch(key, node); !status) {
      return tl::unexpected(status.error());
    }
  }
  return reader.take();
}

Result<Topology> loadTopology(const std::string& path) {
  const auto text = readFile(path, Topology::kMaxFileBytes);
  if (!text) return tl::unexpected(text.error());
  auto made = parseTopology(*text, path);
  if (made) made->file = path;
  return made;
}

}  // namespace pingloom::pinglist
