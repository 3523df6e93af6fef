// The keys that may speak with a controller and its agents: public keys, the role of each, the host
// of an agent's key, and addresses. This is the value of authorized_keys.yaml, which docs/keys.md
// explains. Immutable once parsed; any thread.
//
// Bounds: kMaxKeys keys, kMaxAddressesOfKey addresses for one key (wire::kMaxCollectorAddresses for
// a collector's), kMaxAddresses for all keys, kMaxBytes of text.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "common/address.h"
#include "common/error.h"
#include "common/yaml.h"
#include "net/curve_key.h"

namespace pingloom::keys {

enum class Role { kAgent, kCollector };
std::string_view name(Role role);
Result<Role> parseRole(std::string_view text);

struct AuthorizedKey {
  explicit AuthorizedKey(const net::CurveKey& of) : key(of) {}

  net::CurveKey key;
  Role role = Role::kAgent;
  std::string name;  // for people; may be ""
  std::string host;  // the only host id it may register as; for "" see hostNamed()
  std::vector<std::string> expressions;  // the expressions of `addresses`
  // Ascending. An agent's key speaks for these. A collector's RDMA endpoint may be at one of them,
  // beside the address that it connects from; several collectors may have the same.
  std::vector<IpAddress> addresses;
  std::string added;  // UTC time for people; may be ""

  bool speaksFor(const IpAddress& address) const;  // always false for a collector's key
};

class AuthorizedKeys {
 public:
  static constexpr std::size_t kMaxKeys = 65'536;
  static constexpr std::size_t kMaxAddressesOfKey = 65'536;
  static constexpr std::size_t kMaxExpressionsOfKey = 4'096;
  static constexpr std::size_t kMaxAddresses = 1U << 20;
  static constexpr std::size_t kMaxBytes = 16U << 20;
  static constexpr std::size_t kMaxNameBytes = 128;

  // The error's entity is file:line:column.
  static Result<AuthorizedKeys> parse(std::string_view text, std::string_view file);

  const std::vector<AuthorizedKey>& entries() const { return entries_; }  // ordered as in the file
  const AuthorizedKey* find(const net::CurveKey& key) const;              // nullptr if unknown
  // Tells whether a key names this host. If so, no other key may use the host, not even a key that
  // names no host.
  bool hostNamed(const std::string& host) const { return hosts_.contains(host); }

  // Returns an error if the key exists already or a bound is reached.
  Status add(AuthorizedKey entry);
  // Removes a key by its text, its name or its host. Returns an error if it is unknown, or if
  // several keys have the name or host.
  Result<AuthorizedKey> remove(std::string_view key_or_name);
  std::string text() const;  // the text of the file, which parse() reads

 private:
  std::vector<AuthorizedKey> entries_;
  std::unordered_map<net::CurveKey, std::size_t, net::CurveKeyHash> by_key_;
  std::unordered_set<std::string> hosts_;
  std::size_t addresses_ = 0;
};

// Expands an expression such as "10.0.0.[1-64]" into `entry`. Each address is checked, and the
// bounds apply.
Status addAddresses(const std::string& expression, AuthorizedKey& entry);

// Reads and writes one entry of the list. The first line of the text has no indent.
Result<AuthorizedKey> readAuthorizedKey(const yaml::Node& node);
std::string yamlOf(const AuthorizedKey& entry, std::string_view indent);
// Quotes text without control characters.
std::string yamlQuoted(std::string_view text);

// Checks a name or a host id.
Status checkName(std::string_view text);
Status checkHost(std::string_view text);

}  // namespace pingloom::keys
