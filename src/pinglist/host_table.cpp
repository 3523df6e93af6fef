#include "pinglist/host_table.h"

#include <fmt/format.h>

#include <algorithm>

#include "common/text.h"
#include "plan/address_range.h"

namespace pingloom::pinglist {
namespace {

constexpr std::size_t kMaxAddressesPerHost = 256;

// The text is free but has to fit on one line.
Result<std::string> readText(const yaml::Node& node, std::string_view what) {
  auto text = node.text();
  if (!text) return text;
  if (text->empty()) return node.error(std::string(what) + " is empty");
  if (text->size() > HostTable::kMaxTextBytes) {
    return node.error(std::string(what) + " is longer than " +
                      std::to_string(HostTable::kMaxTextBytes) + " bytes");
  }
  if (hasControls(*text)) return node.error(std::string(what) + " has a control character");
  return text;
}

Status readLabel(const yaml::Node& key, const yaml::Node& value, Host& host) {
  if (host.labels.size() == HostTable::kMaxLabels) {
    return key.error("host '" + host.name + "' has more than " +
                     std::to_string(HostTable::kMaxLabels) + " labels");
  }
  auto name = readText(key, "a label");
  if (!name) return tl::unexpected(name.error());
  if (!value.isScalar()) {
    return key.error("label '" + *name + "' of host '" + host.name + "' needs a single value" +
                     didYouMean(*name, {"address", "addresses", "maintenance"}));
  }
  if (value.text()->empty()) {
    host.labels[*name] = "";
    return {};
  }
  auto text = readText(value, "label '" + *name + "'");
  if (!text) return tl::unexpected(text.error());
  host.labels[*name] = std::move(*text);
  return {};
}

// Reads `true`, `false` or the time when the maintenance ends.
Status readMaintenance(const yaml::Node& node, Host& host) {
  constexpr std::string_view kAccepted = "write true, or a time such as 2026-11-30T06:00:00Z";
  if (!node.isScalar()) {
    return node.error(fmt::format("maintenance of host '{}': {}", host.name, kAccepted));
  }
  if (const auto flag = node.boolean()) {
    if (*flag) host.maintenance_until = kNever;
    return {};
  }
  const auto until = parseUtc(*node.text());
  if (!until) {
    return node.error(fmt::format("maintenance of host '{}': '{}' is neither: {}", host.name,
                                  *node.text(), kAccepted));
  }
  host.maintenance_until = *until;
  return {};
}

// Warns of a maintenance that is over. `body` is the host's.
void warnIfOver(const yaml::Node& body, const Host& host, Nanos now_utc, Warnings& warnings) {
  if (!host.maintenance_until || *host.maintenance_until > now_utc) return;
  warnings.add(body.find("maintenance")->place(),
               fmt::format("the maintenance of host '{}' ended at {}: remove it", host.name,
                           formatUtc(*host.maintenance_until)));
}

}  // namespace

Result<HostTable> HostTable::read(const yaml::Node& section, Nanos now_utc, Warnings& warnings) {
  HostTable table;
  if (section.isNull()) return table;
  if (!section.isMap())
    return section.error("expected hosts, as in 'gpu-001: { address: 10.0.0.1 }'");
  for (const auto& [key, body] : section.entries()) {
    auto status = table.readHost(key, body, now_utc, warnings);
    if (!status) return tl::unexpected(status.error());
  }
  return table;
}

Status HostTable::readHost(const yaml::Node& key, const yaml::Node& body, Nanos now_utc,
                           Warnings& warnings) {
  auto name = readText(key, "a host's name");
  if (!name) return tl::unexpected(name.error());
  if (IpAddress::parse(*name)) {
    return key.error("a host's name cannot be an address: lists could not tell the two apart");
  }
  if (!body.isMap()) {
    return key.error("host '" + *name + "' needs an address, as in '{ address: 10.0.0.1 }'");
  }
  Host host;
  host.name = *name;
  if (auto status = readBody(key, body, host); !status) return status;
  warnIfOver(body, host, now_utc, warnings);
  if (auto status = countShown(key, host); !status) return status;
  const bool several = host.addresses.size() > 1;
  auto status = addName(key, host.name,
                        several ? std::nullopt : std::optional(host.addresses.front().second));
  if (!status) return status;
  for (const auto& [label, address] : host.addresses) {
    const std::string full = label.empty() ? host.name : host.name + "/" + label;
    names_[address] = full;
    if (label.empty()) continue;
    if (status = addName(key, full, address); !status) return status;
  }
  index_[host.name] = hosts_.size();
  hosts_.push_back(std::move(host));
  return {};
}

Status HostTable::readBody(const yaml::Node& key, const yaml::Node& body, Host& host) {
  if (auto status = body.uniqueKeys(); !status) return status;
  std::vector<std::string> labels;
  for (const auto& [name, value] : body.entries()) {
    const std::string word = *name.text();
    if (word == "address" || word == "addresses") {
      if (!host.addresses.empty()) {
        return name.error("host '" + host.name + "' has both 'address' and 'addresses'");
      }
      auto status = word == "address" ? addAddress(value, "", host) : readAddresses(value, host);
      if (!status) return status;
      continue;
    }
    if (word == "maintenance") {
      if (auto status = readMaintenance(value, host); !status) return status;
      continue;
    }
    if (auto status = readLabel(name, value, host); !status) return status;
    labels.push_back(word);
  }
  if (!host.addresses.empty()) return {};
  std::string hint;
  for (const std::string& label : labels) {
    const std::string meant = closestWord(label, {"address", "addresses"});
    if (!meant.empty()) {
      hint = fmt::format(" (did you mean '{}' instead of '{}'?)", meant, label);
      break;
    }
  }
  return key.error("host '" + host.name + "' has neither 'address' nor 'addresses'" + hint);
}

Status HostTable::readAddresses(const yaml::Node& node, Host& host) {
  if (!node.isMap()) {
    return node.error(
        "expected addresses with labels, as in '{ rail0: 10.0.0.2, rail1: 10.1.0.2 }'");
  }
  if (auto status = node.uniqueKeys(); !status) return status;
  const auto entries = node.entries();
  if (entries.empty()) return node.error("host '" + host.name + "' has no address");
  if (entries.size() > kMaxAddressesPerHost) {
    return node.error("host '" + host.name + "' has more than " +
                      std::to_string(kMaxAddressesPerHost) + " addresses");
  }
  for (const auto& [key, value] : entries) {
    auto label = readText(key, "an address label");
    if (!label) return tl::unexpected(label.error());
    if (auto status = addAddress(value, *label, host); !status) return status;
  }
  return {};
}

Status HostTable::addAddress(const yaml::Node& node, const std::string& label, Host& host) {
  auto text = node.text();
  if (!text) return tl::unexpected(text.error());
  const auto address = IpAddress::parse(*text);
  if (!address) return node.error("'" + *text + "' is not an IPv4 or IPv6 address");
  if (auto usable = plan::checkProbeable(*address); !usable)
    return node.error(usable.error().text());
  // The address is entered in names_ at once, so that a duplicate within one host is found too.
  if (const auto [owner, fresh] = names_.emplace(*address, host.name); !fresh) {
    return node.error("address " + address->text() + " belongs to '" + owner->second + "' already");
  }
  host.addresses.emplace_back(label, *address);
  return {};
}

Status HostTable::countShown(const yaml::Node& place, const Host& host) {
  std::size_t each = host.name.size();
  for (const auto& [label, value] : host.labels) each += label.size() + value.size();
  for (const auto& [label, address] : host.addresses) shown_bytes_ += each + 2 * label.size();
  if (shown_bytes_ <= kMaxShownBytes) return {};
  return place.error("the names and labels of the hosts so far are more than " +
                     std::to_string(kMaxShownBytes >> 20U) + " MiB, counted for each address");
}

Status HostTable::addName(const yaml::Node& place, const std::string& name,
                          std::optional<IpAddress> address) {
  if (by_name_.emplace(name, address).second) return {};
  return place.error("host name '" + name + "' is here twice");
}

std::string HostTable::choicesOf(const std::string& host) const {
  std::vector<std::string> choices;
  for (const auto& [label, address] : hosts_[index_.at(host)].addresses) {
    const std::string_view slash = label.empty() ? "" : "/";
    choices.push_back(fmt::format("'{}{}{}'", host, slash, label));
  }
  return join(choices, ", ");
}

Result<std::optional<IpAddress>> HostTable::find(const std::string& name) const {
  const auto found = by_name_.find(name);
  if (found != by_name_.end()) {
    if (found->second) return found->second;
    return makeError("host '" + name + "'",
                     "has several addresses; write one of " + choicesOf(name));
  }
  const auto slash = name.rfind('/');
  if (slash == std::string::npos || !index_.contains(name.substr(0, slash))) return std::nullopt;
  const std::string host = name.substr(0, slash);
  return makeError("host '" + host + "'", "has no address '" + name.substr(slash + 1) +
                                              "'; write one of " + choicesOf(host));
}

std::vector<std::string_view> HostTable::allNames() const {
  std::vector<std::string_view> names;
  for (const auto& [name, address] : by_name_) names.push_back(name);
  std::sort(names.begin(), names.end());  // makes suggestions deterministic
  return names;
}

std::map<std::string_view, std::size_t> HostTable::allLabels() const {
  std::map<std::string_view, std::size_t> longest;
  const auto note = [&longest](std::string_view label, const std::string& value) {
    std::size_t& bytes = longest[label];
    bytes = std::max(bytes, value.size());
  };
  for (const Host& host : hosts_) {
    for (const auto& [label, value] : host.labels) note(label, value);
    if (host.labels.contains("rail")) continue;
    for (const auto& [label, address] : host.addresses) {
      if (!label.empty()) note("rail", label);
    }
  }
  return longest;
}

void HostTable::moveTo(Pinglist& pinglist) {
  pinglist.hosts = std::move(hosts_);
  pinglist.names = std::move(names_);
  *this = HostTable();
}

}  // namespace pingloom::pinglist
