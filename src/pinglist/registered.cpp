#include "pinglist/registered.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "common/config_reader.h"
#include "common/text.h"

namespace pingloom::pinglist {
namespace {

constexpr Nanos kShortestForget = 5 * kSecond;  // longer than an agent's lease
constexpr Nanos kLongestForget = 365 * 24 * kHour;
constexpr std::size_t kMaxLabelBytes = 4096;

Status readWantedLabels(const yaml::Node& node, RegisteredFilter& filter) {
  if (!node.isMap()) return node.error("expected labels, such as { rack: r1 }");
  if (auto status = node.uniqueKeys(); !status) return status;
  const auto entries = node.entries();
  if (entries.empty() || entries.size() > RegisteredFilter::kMaxLabels) {
    return node.error("has 1 to " + std::to_string(RegisteredFilter::kMaxLabels) + " labels");
  }
  for (const auto& [key, value] : entries) {
    const auto label = key.text();
    if (!label) return tl::unexpected(label.error());
    std::string wanted;
    if (auto status = pingloom::readText(value, kMaxLabelBytes, wanted); !status) return status;
    filter.labels.emplace(*label, std::move(wanted));
  }
  return {};
}

Status addNetwork(const yaml::Node& node, RegisteredFilter& filter) {
  const auto text = node.text();
  if (!text) return tl::unexpected(text.error());
  auto network = Network::parse(*text);
  if (!network) return node.error(network.error().text());
  filter.within.push_back(*network);
  return {};
}

Status readNetworks(const yaml::Node& node, RegisteredFilter& filter) {
  if (!node.isSequence()) return addNetwork(node, filter);
  const auto items = node.items();
  if (items.empty() || items.size() > RegisteredFilter::kMaxNetworks) {
    return node.error("has 1 to " + std::to_string(RegisteredFilter::kMaxNetworks) + " networks");
  }
  for (const yaml::Node& item : items) {
    if (auto status = addNetwork(item, filter); !status) return status;
  }
  return {};
}

Status readWhichAddresses(const yaml::Node& node, RegisteredFilter& filter) {
  const auto text = node.text();
  if (!text) return tl::unexpected(text.error());
  if (*text != "first" && *text != "all") return node.error("'" + *text + "': write first or all");
  filter.all_addresses = *text == "all";
  return {};
}

constexpr auto kFilterKeys = std::to_array<ConfigKey<RegisteredFilter>>({
    {"max",
     [](const yaml::Node& node, RegisteredFilter& filter) {
       return pingloom::readNumber(node, 1, RegisteredFilter::kMaxAgents, filter.max);
     }},
    {"labels", readWantedLabels},
    {"within", readNetworks},
    {"addresses", readWhichAddresses},
    {"forget",
     [](const yaml::Node& node, RegisteredFilter& filter) {
       return pingloom::readDuration(node, kShortestForget, kLongestForget, filter.forget);
     }},
});

}  // namespace

Result<Network> Network::parse(std::string_view text) {
  const std::string shown = "'" + std::string(text) + "'";
  const auto slash = text.find('/');
  const auto address = IpAddress::parse(text.substr(0, slash));
  if (!address || slash == std::string_view::npos) {
    return makeError(shown, "is no network; write ADDRESS/BITS, such as 10.1.0.0/16");
  }
  const unsigned most = address->isV4() ? 32 : 128;
  const auto bits = parseUnsigned(text.substr(slash + 1), most);
  if (!bits) {
    return makeError(shown, "the prefix has 0 to " + std::to_string(most) + " bits");
  }
  return Network{*address, static_cast<unsigned>(*bits)};
}

bool Network::contains(const IpAddress& address) const {
  if (address.isV4() != first.isV4()) return false;
  const auto& mine = first.bytes();
  const auto& other = address.bytes();
  const std::size_t whole = bits / 8;
  if (!std::equal(mine.begin(), mine.begin() + static_cast<std::ptrdiff_t>(whole), other.begin())) {
    return false;
  }
  const unsigned rest = bits % 8;
  return rest == 0 || ((mine.at(whole) ^ other.at(whole)) >> (8 - rest)) == 0;
}

Result<RegisteredFilter> readRegistered(const yaml::Node& entry) {
  RegisteredFilter filter;
  if (entry.isScalar()) return filter;
  if (auto status = entry.onlyKeys({kRegistered}); !status) return tl::unexpected(status.error());
  const auto body = entry.find(kRegistered);
  if (!body) return entry.error("expected an address, a name, or 'registered'");
  if (body->isNull()) return filter;
  if (auto status = readMap(*body, kFilterKeys, filter); !status) {
    return tl::unexpected(status.error());
  }
  return filter;
}

}  // namespace pingloom::pinglist
