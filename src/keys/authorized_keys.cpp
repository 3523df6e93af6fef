#include "keys/authorized_keys.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "common/text.h"
#include "common/time.h"
#include "common/yaml.h"
#include "plan/address_range.h"
#include "wire/control_protocol.h"

namespace pingloom::keys {
namespace {

constexpr std::string_view kEntryForm =
    "write '- { key: PUBLIC_KEY, role: agent, host: NAME, addresses: [\"10.0.0.[1-8]\"] }'";

Status readText(const yaml::Node& node, Status (*check)(std::string_view), std::string& out) {
  auto text = node.text();
  if (!text) return tl::unexpected(text.error());
  if (const auto checked = check(*text); !checked) return node.error(checked.error().reason);
  out = std::move(*text);
  return {};
}

Status readAuthorizedAddresses(const yaml::Node& node, AuthorizedKey& entry) {
  if (!node.isSequence()) {
    return node.error("expected a list of addresses and ranges: [10.0.0.1, \"10.1.0.[1-8]\"]");
  }
  for (const yaml::Node& item : node.items()) {
    const auto text = item.text();
    if (!text) return tl::unexpected(text.error());
    if (const auto added = addAddresses(*text, entry); !added) {
      return item.error(added.error().text());
    }
  }
  return {};
}

Status readOptional(const yaml::Node& node, AuthorizedKey& entry) {
  if (const auto role = node.find("role")) {
    const auto text = role->text();
    if (!text) return tl::unexpected(text.error());
    const auto parsed = parseRole(*text);
    if (!parsed) return role->error(parsed.error().text());
    entry.role = *parsed;
  }
  if (const auto host = node.find("host")) {
    if (auto read = readText(*host, checkHost, entry.host); !read) return read;
  }
  if (const auto name = node.find("name")) {
    if (auto read = readText(*name, checkName, entry.name); !read) return read;
  }
  if (const auto added = node.find("added")) {
    const auto text = added->text();
    if (!text) return tl::unexpected(text.error());
    if (!parseUtc(*text))
      return added->error("'" + *text + "' is not a time such as " + formatUtc(0));
    entry.added = *text;
  }
  if (const auto addresses = node.find("addresses")) {
    return readAuthorizedAddresses(*addresses, entry);
  }
  return {};
}

}  // namespace

Result<AuthorizedKey> readAuthorizedKey(const yaml::Node& node) {
  if (!node.isMap()) return node.error(kEntryForm);
  if (auto status = node.onlyKeys({"key", "role", "host", "addresses", "name", "added"}); !status) {
    return tl::unexpected(status.error());
  }
  const auto key = node.find("key");
  if (!key) return node.error("'key' is missing; " + std::string(kEntryForm));
  if (!node.find("role")) return node.error("'role' is missing: agent or collector");
  const auto text = key->text();
  if (!text) return tl::unexpected(text.error());
  const auto parsed = net::CurveKey::parse(*text);
  if (!parsed) return key->error(parsed.error().reason);
  AuthorizedKey entry(*parsed);
  if (auto read = readOptional(node, entry); !read) return tl::unexpected(read.error());
  return entry;
}

std::string yamlQuoted(std::string_view text) {
  std::string made = "'";
  for (const char c : text) made.append(c == '\'' ? 2 : 1, c);
  return made + "'";
}

std::string yamlOf(const AuthorizedKey& entry, std::string_view indent) {
  std::string made = fmt::format("key: {}\n{}role: {}\n", yamlQuoted(entry.key.text()), indent,
                                 keys::name(entry.role));
  const auto line = [&](std::string_view name, const std::string& value) {
    made += fmt::format("{}{}: {}\n", indent, name, value);
  };
  if (!entry.name.empty()) line("name", yamlQuoted(entry.name));
  if (!entry.host.empty()) line("host", yamlQuoted(entry.host));
  if (!entry.expressions.empty()) {
    std::vector<std::string> quoted;
    for (const std::string& text : entry.expressions) quoted.push_back(yamlQuoted(text));
    line("addresses", "[" + join(quoted, ", ") + "]");
  }
  if (!entry.added.empty()) line("added", yamlQuoted(entry.added));
  return made;
}

std::string_view name(Role role) { return role == Role::kAgent ? "agent" : "collector"; }

Result<Role> parseRole(std::string_view text) {
  if (text == "agent") return Role::kAgent;
  if (text == "collector") return Role::kCollector;
  const std::string shown = "'" + std::string(text) + "'";
  return makeError(shown,
                   "a role is agent or collector" + didYouMean(text, {"agent", "collector"}));
}

Status checkName(std::string_view text) {
  if (!text.empty() && text.size() <= AuthorizedKeys::kMaxNameBytes && !hasControls(text)) {
    return {};
  }
  return makeError("", "a name has 1 to 128 bytes and no control characters");
}

Status checkHost(std::string_view text) {
  if (wire::isHostName(text)) return {};
  return makeError("", "a host id has 1 to 253 characters and no blanks");
}

bool AuthorizedKey::speaksFor(const IpAddress& address) const {
  return role == Role::kAgent && std::binary_search(addresses.begin(), addresses.end(), address);
}

Status addAddresses(const std::string& expression, AuthorizedKey& entry) {
  plan::AddressList made;
  if (auto expanded = plan::expandAddresses(
          expression, {entry.addresses.size(), AuthorizedKeys::kMaxAddressesOfKey}, made);
      !expanded) {
    return expanded;
  }
  if (entry.expressions.size() >= AuthorizedKeys::kMaxExpressionsOfKey) {
    return makeError(expression, "a key has at most 4096 addresses or ranges of them");
  }
  std::sort(made.begin(), made.end());
  const auto before = static_cast<std::ptrdiff_t>(entry.addresses.size());
  entry.addresses.insert(entry.addresses.end(), made.begin(), made.end());
  std::inplace_merge(entry.addresses.begin(), entry.addresses.begin() + before,
                     entry.addresses.end());
  entry.addresses.erase(std::unique(entry.addresses.begin(), entry.addresses.end()),
                        entry.addresses.end());
  entry.expressions.push_back(expression);
  return {};
}

Result<AuthorizedKeys> AuthorizedKeys::parse(std::string_view text, std::string_view file) {
  if (text.size() > kMaxBytes) return makeError(file, "is larger than 16 MiB");
  const auto root = yaml::parse(text, file);
  if (!root) return tl::unexpected(root.error());
  AuthorizedKeys made;
  if (root->isNull()) return root->error("is empty; write 'keys: []' to authorise nobody");
  if (auto status = root->onlyKeys({"keys"}); !status) return tl::unexpected(status.error());
  const auto list = root->find("keys");
  if (!list) return root->error("'keys' is missing");
  if (list->isNull()) return list->error("is empty; write 'keys: []' to authorise nobody");
  if (!list->isSequence())
    return list->error("expected a list of keys; " + std::string(kEntryForm));
  for (const yaml::Node& node : list->items()) {
    auto entry = readAuthorizedKey(node);
    if (!entry) return tl::unexpected(entry.error());
    if (auto added = made.add(std::move(*entry)); !added) return node.error(added.error().text());
  }
  return made;
}

const AuthorizedKey* AuthorizedKeys::find(const net::CurveKey& key) const {
  const auto found = by_key_.find(key);
  return found == by_key_.end() ? nullptr : &entries_[found->second];
}

Status AuthorizedKeys::add(AuthorizedKey entry) {
  const std::string shown(entry.key.text());
  if (const AuthorizedKey* known = find(entry.key)) {
    return makeError(shown, known->name.empty()
                                ? "this key is authorised already"
                                : "this key is authorised already, as '" + known->name + "'");
  }
  if (entry.role == Role::kAgent && entry.addresses.empty()) {
    return makeError(shown, "an agent's key needs the addresses that it speaks for");
  }
  if (entry.role == Role::kCollector && !entry.host.empty()) {
    return makeError(shown, "a collector's key has no host");
  }
  if (entry.role == Role::kCollector && entry.addresses.size() > wire::kMaxCollectorAddresses) {
    return makeError(shown, "a collector's key has at most 64 addresses");
  }
  if (entries_.size() >= kMaxKeys) return makeError(shown, "there are 65536 keys already");
  if (entry.addresses.size() > kMaxAddresses - addresses_) {
    return makeError(shown, "all keys together have more than 1048576 addresses");
  }
  addresses_ += entry.addresses.size();
  if (!entry.host.empty()) hosts_.insert(entry.host);
  by_key_[entry.key] = entries_.size();
  entries_.push_back(std::move(entry));
  return {};
}

Result<AuthorizedKey> AuthorizedKeys::remove(std::string_view key_or_name) {
  const auto is_meant = [&](const AuthorizedKey& entry) {
    return entry.key.text() == key_or_name || (!entry.name.empty() && entry.name == key_or_name) ||
           (!entry.host.empty() && entry.host == key_or_name);
  };
  const auto found = std::find_if(entries_.begin(), entries_.end(), is_meant);
  const std::string shown = "'" + std::string(key_or_name) + "'";
  if (found == entries_.end())
    return makeError(shown, "no key, no name and no host that is authorised");
  if (std::find_if(std::next(found), entries_.end(), is_meant) != entries_.end()) {
    return makeError(shown, "several keys have this name or host; say which key");
  }
  AuthorizedKey removed = std::move(*found);
  entries_.erase(found);
  std::vector<AuthorizedKey> rest = std::exchange(entries_, {});
  by_key_.clear();
  hosts_.clear();
  addresses_ = 0;
  // cannot fail, because they were in the list before
  for (AuthorizedKey& entry : rest) (void)add(std::move(entry));
  return removed;
}

std::string AuthorizedKeys::text() const {
  std::string made =
      "# Who may speak with the controller and its agents; `pingloom keys` rewrites this file.\n"
      "# An edit is in force within a second; comments do not survive the next `pingloom keys`.\n";
  if (entries_.empty()) return made + "keys: []\n";
  made += "keys:\n";
  for (const AuthorizedKey& entry : entries_) made += "  - " + yamlOf(entry, "    ");
  return made;
}

}  // namespace pingloom::keys
