#include "pinglist/address_list.h"

#include <algorithm>
#include <cstdint>
#include <map>

#include "common/text.h"
#include "plan/address_range.h"
#include "plan/plan_codec.h"

namespace pingloom::pinglist {
namespace {

// The entry of the list from which an address came, for the warning about duplicates.
struct Origin {
  IpAddress address;
  std::uint32_t item = 0;

  auto operator<=>(const Origin&) const = default;
};

bool looksLikeAddress(std::string_view text) {
  return text.find_first_not_of("0123456789abcdefABCDEF.:[]-%/") == std::string_view::npos &&
         text.find_first_of(".:") != std::string_view::npos;
}

tl::unexpected<Error> unresolvable(const yaml::Node& item, const std::string& text,
                                   const HostTable& hosts) {
  if (looksLikeAddress(text)) {
    const bool network = text.find('/') != std::string::npos;
    return item.error("'" + text + "' is not an IPv4 or IPv6 address" +
                      (network ? "; write a network as a range, such as 10.0.0.[1-254]" : ""));
  }
  const auto names = hosts.allNames();
  if (names.empty())
    return item.error("'" + text + "' is not an address; DNS names are not resolved");
  return item.error("'" + text + "' is neither an address nor a host of this file's 'hosts:'" +
                    didYouMean(text, names) + "; DNS names are not resolved");
}

Status readItem(const yaml::Node& item, const std::string& text, const HostTable& hosts,
                std::size_t at_most, plan::AddressList& out) {
  const auto named = hosts.find(text);
  if (!named) return item.error(named.error().text());
  if (*named) {
    if (at_most == 0) {
      return item.error("makes a list of more than " + std::to_string(plan::kMaxListAddresses) +
                        " addresses");
    }
    out.push_back(**named);
    return {};
  }
  const bool range = text.find('[') != std::string::npos;
  if (!range && !IpAddress::parse(text)) return unresolvable(item, text, hosts);
  auto status = plan::expandAddresses(text, at_most, out);
  if (!status) return item.error(status.error().text());
  return {};
}

plan::AddressList sortedUnique(std::vector<Origin>& origins, const std::vector<yaml::Node>& items,
                               Warnings& warnings) {
  std::sort(origins.begin(), origins.end());
  plan::AddressList list;
  list.reserve(origins.size());
  struct Repeated {
    IpAddress first;
    std::size_t count = 0;
  };
  std::map<std::uint32_t, Repeated> repeated;
  for (const Origin& origin : origins) {
    if (list.empty() || list.back() != origin.address) {
      list.push_back(origin.address);
      continue;
    }
    Repeated& entry = repeated[origin.item];
    if (entry.count++ == 0) entry.first = origin.address;
  }
  for (const auto& [item, entry] : repeated) {
    const std::string others =
        entry.count == 1 ? "is" : "and " + std::to_string(entry.count - 1) + " more are";
    warnings.add(items[item].place(),
                 entry.first.text() + " " + others + " in this list already; counted once");
  }
  return list;
}

}  // namespace

Result<plan::AddressList> readAddressList(const yaml::Node& node, const HostTable& hosts,
                                          Placeholders placeholders, Warnings& warnings) {
  if (!node.isSequence())
    return node.error("expected a list of addresses, such as [10.0.0.1, 10.0.0.2]");
  const std::vector<yaml::Node> items = node.items();
  if (items.empty()) return node.error("the group is empty");
  std::vector<Origin> origins;
  plan::AddressList expanded;
  for (std::uint32_t i = 0; i < items.size(); ++i) {
    const auto text = items[i].text();
    if (!text) return tl::unexpected(text.error());
    if (placeholders == Placeholders::kIgnore && *text == "0.0.0.0") {
      warnings.add(items[i].place(), "the placeholder 0.0.0.0 is ignored");
      continue;
    }
    expanded.clear();
    const std::size_t room = plan::kMaxListAddresses - origins.size();
    if (auto status = readItem(items[i], *text, hosts, room, expanded); !status) {
      return tl::unexpected(status.error());
    }
    for (const IpAddress& address : expanded) origins.push_back({address, i});
  }
  return sortedUnique(origins, items, warnings);
}

}  // namespace pingloom::pinglist
