// Who may speak with a controller and its agents: public keys, what each is for, and which host and
// addresses an agent's key speaks for. The value of authorized_keys.yaml, which docs/keys.md
// explains. Immutable once parsed; any thread.
//
// Bounds: kMaxKeys keys, kMaxAddressesOfKey addresses of one and kMaxAddresses of all, kMaxBytes of
// text.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "common/address.h"
#include "common/error.h"
#include "net/curve_key.h"

namespace pingloom::keys {

enum class Role { kAgent, kCollector };
std::string_view name(Role role);
Result<Role> parseRole(std::string_view text);

struct AuthorizedKey {
  explicit AuthorizedKey(const net::CurveKey& of) : key(of) {}

  net::CurveKey key;
  Role role = Role::kAgent;
  std::string name;                      // for people; "": none
  std::string host;                      // the only host id it may register as; "": see hostNamed()
  std::vector<std::string> expressions;  // agents: what `addresses` are made of
  std::vector<IpAddress> addresses;      // ascending
  std::string added;                     // UTC, for people; "": not said

  bool speaksFor(const IpAddress& address) const;
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

  const std::vector<AuthorizedKey>& entries() const { return entries_; }  // in the file's order
  const AuthorizedKey* find(const net::CurveKey& key) const;              // nullptr: not there
  // Some key is for this host: others are not, even those that name none.
  bool hostNamed(const std::string& host) const { return hosts_.contains(host); }

  // An error where the key is there, or a bound is reached.
  Status add(AuthorizedKey entry);
  // By the key's text or by name; an error where it is none of them, or the name is of several.
  Result<AuthorizedKey> remove(std::string_view key_or_name);
  std::string text() const;  // the file that parse() reads

 private:
  std::vector<AuthorizedKey> entries_;
  std::unordered_map<net::CurveKey, std::size_t, net::CurveKeyHash> by_key_;
  std::unordered_set<std::string> hosts_;
  std::size_t addresses_ = 0;
};

// "10.0.0.[1-64]" and the like into `entry`, each checked; at most what the bounds leave.
Status addAddresses(const std::string& expression, AuthorizedKey& entry);

// What a name or a host id has to be, or why it is not.
Status checkName(std::string_view text);
Status checkHost(std::string_view text);

}  // namespace pingloom::keys
