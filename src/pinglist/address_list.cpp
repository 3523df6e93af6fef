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
    const bool several = text.find_first_of("/-") != std::string::npos;
    return item.error(
        "'" + text + "' is not an IPv4 or IPv6 address" +
        (several ? "; write several addresses as a range, such as 10.0.0.[1-254]" : ""));
  }
  const auto names = hosts.allNames();
  if (names.empty())
    return item.error("'" + text + "' is not an address; DNS names are not resolved");
  return item.error("'" + text + "' is neither an address nor a host of this file's 'hosts:'" +
                    didYouMean(text, names) + "; DNS names are not resolved");
}

Status readItem(const yaml::Node& item, const std::string& text, const HostTable& hosts,
                const plan::ListRoom& room, plan::AddressList& out) {
  const auto named = hosts.find(text);
  if (!named) return item.error(named.error().text());
  if (*named) {
    if (room.left() == 0) return item.error(room.exceeded());
    out.push_back(**named);
    return {};
  }
  const bool range = text.find('[') != std::string::npos;
  if (!range && !IpAddress::parse(text)) return unresolvable(item, text, hosts);
  auto status = plan::expandAddresses(text, room, out);
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

void addOnce(const RegisteredFilter& filter, std::vector<RegisteredFilter>& all) {
  if (std::find(all.begin(), all.end(), filter) == all.end()) all.push_back(filter);
}

class ListReader {
 public:
  ListReader(const HostTable& hosts, const Groups* groups, Placeholders placeholders,
             Warnings& warnings)
      : hosts_(hosts), groups_(groups), placeholders_(placeholders), warnings_(warnings) {}

  Result<MemberList> read(const yaml::Node& node) {
    std::vector<yaml::Node> items = node.items();
    if (!node.isSequence()) {
      if (!standsAlone(node)) {
        return node.error("expected a list of addresses, such as [10.0.0.1, 10.0.0.2]");
      }
      items = {node};
    }
    if (items.empty()) return node.error("the group is empty");
    for (std::uint32_t i = 0; i < items.size(); ++i) {
      if (auto status = readEntry(items[i], i); !status) return tl::unexpected(status.error());
    }
    made_.addresses = sortedUnique(origins_, items, warnings_);
    return std::move(made_);
  }

 private:
  bool standsAlone(const yaml::Node& node) const {
    if (groups_ == nullptr || node.isNull()) return false;
    if (node.isMap()) return node.find(kRegistered).has_value();
    const auto text = node.text();
    return text && (*text == kRegistered || groups_->contains(*text));
  }

  Status readEntry(const yaml::Node& item, std::uint32_t index) {
    if (groups_ != nullptr && item.isMap()) return addRegistered(item);
    const auto text = item.text();
    if (!text) return tl::unexpected(text.error());
    if (placeholders_ == Placeholders::kIgnore && *text == "0.0.0.0") {
      warnings_.add(item.place(), "the placeholder 0.0.0.0 is ignored");
      return {};
    }
    if (groups_ != nullptr) {
      if (*text == kRegistered) return addRegistered(item);
      const auto group = groups_->find(*text);
      if (group != groups_->end()) return addGroup(item, index, group->second);
    }
    plan::AddressList expanded;
    if (auto status = readItem(item, *text, hosts_, room(), expanded); !status) return status;
    for (const IpAddress& address : expanded) origins_.push_back({address, index});
    return {};
  }

  Status addRegistered(const yaml::Node& item) {
    const auto filter = readRegistered(item);
    if (!filter) return tl::unexpected(filter.error());
    addOnce(*filter, made_.registered);
    return {};
  }

  Status addGroup(const yaml::Node& item, std::uint32_t index, const MemberList& group) {
    if (group.addresses.size() > plan::kMaxListAddresses - origins_.size()) {
      return item.error("makes a list of more than " + std::to_string(plan::kMaxListAddresses) +
                        " addresses");
    }
    for (const IpAddress& address : group.addresses) origins_.push_back({address, index});
    for (const RegisteredFilter& filter : group.registered) addOnce(filter, made_.registered);
    return {};
  }

  plan::ListRoom room() const { return {origins_.size(), plan::kMaxListAddresses}; }

  const HostTable& hosts_;
  const Groups* const groups_;
  const Placeholders placeholders_;
  Warnings& warnings_;
  std::vector<Origin> origins_;
  MemberList made_;
};

}  // namespace

Result<MemberList> readMembers(const yaml::Node& node, const HostTable& hosts, const Groups* groups,
                               Placeholders placeholders, Warnings& warnings) {
  ListReader reader(hosts, groups, placeholders, warnings);
  return reader.read(node);
}

}  // namespace pingloom::pinglist
