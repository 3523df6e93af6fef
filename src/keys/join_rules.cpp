#include "keys/join_rules.h"

#include <algorithm>
#include <utility>

#include "common/text.h"
#include "keys/join_token.h"
#include "wire/control_protocol.h"

namespace pingloom::keys {
namespace {

using wire::JoinReply;

// Every address has to be one that the list of keys can be read with: one bad address would
// otherwise keep all hosts that join at the same time from being written.
Status readAddresses(const google::protobuf::RepeatedPtrField<std::string>& in, std::size_t most,
                     std::vector<IpAddress>& out) {
  if (static_cast<std::size_t>(in.size()) > most) return makeError("join", "too many addresses");
  AuthorizedKey scratch(net::CurveKey::fromBytes({}));
  for (const std::string& bytes : in) {
    const auto address = IpAddress::fromWire(bytes);
    if (!address) return makeError("join", "a malformed address");
    if (auto usable = addAddresses(address->text(), scratch); !usable) {
      return makeError("join", usable.error().text());
    }
    out.push_back(*address);
  }
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return {};
}

bool has(const std::vector<IpAddress>& all, const IpAddress& one) {
  return std::binary_search(all.begin(), all.end(), one);
}

std::string collectorName(const JoinRequest& request) {
  std::string name = request.host;
  shorten(name, AuthorizedKeys::kMaxNameBytes - 3);  // less the "..." that it appends
  return name;
}

JoinDecision hostTaken(std::string_view kind, const std::string& name) {
  return {JoinReply::HOST_TAKEN, "the " + std::string(kind) + " '" + name +
                                     "' has another key; if this is the same one, run `pingloom "
                                     "keys revoke " +
                                     name + "` at the controller, then join again"};
}

AuthorizedKey entryOf(const JoinRequest& request, const KnownToken& token, Nanos now_utc) {
  AuthorizedKey entry(request.key);
  entry.role = request.role;
  entry.added = formatUtc(now_utc / kSecond * kSecond);
  if (request.role == Role::kCollector) {
    entry.name = collectorName(request);
    return entry;
  }
  entry.host = request.host;
  entry.name = "token " + tokenId(token.key);
  if (request.from) entry.name += " from " + request.from->text();
  entry.addresses = request.addresses;
  // Where it comes from is bound to its key too, so that one address is good for one key.
  if (request.from && has(request.machine, *request.from) && !request.from->isLoopback()) {
    entry.addresses.push_back(*request.from);
    std::sort(entry.addresses.begin(), entry.addresses.end());
    entry.addresses.erase(std::unique(entry.addresses.begin(), entry.addresses.end()),
                          entry.addresses.end());
  }
  for (const IpAddress& address : entry.addresses) entry.expressions.push_back(address.text());
  return entry;
}

}  // namespace

Result<JoinRequest> readJoin(const wire::Join& message, std::string_view from) {
  if (message.control_version() != wire::kControlVersion) {
    return makeError("join", "control version " + std::to_string(message.control_version()) +
                                 " is not supported");
  }
  const auto key = net::CurveKey::fromWire(message.public_key());
  if (!key) return makeError("join", key.error().reason);
  JoinRequest request(*key);
  if (message.role() != wire::Join::AGENT && message.role() != wire::Join::COLLECTOR) {
    return makeError("join", "a role is agent or collector");
  }
  request.role = message.role() == wire::Join::AGENT ? Role::kAgent : Role::kCollector;
  request.host = message.host();
  if (!wire::isHostName(request.host) || invalidUtf8At(request.host) != std::string_view::npos) {
    return makeError("join", "a host id has 1 to 253 characters and no blanks");
  }
  auto read = readAddresses(message.addresses(), JoinRules::kMaxAddresses, request.addresses);
  if (read) read = readAddresses(message.machine(), wire::kMaxHostAddresses, request.machine);
  if (!read) return tl::unexpected(read.error());
  if ((request.role == Role::kAgent) == request.addresses.empty()) {
    return makeError("join", "an agent has addresses, and a collector has none");
  }
  if (const auto address = IpAddress::parse(from)) request.from = *address;
  return request;
}

JoinRules::JoinRules(AuthorizedKeys& authorized, JoinBook& book, Nanos now_utc)
    : authorized_(authorized), book_(book), now_utc_(now_utc) {
  for (const AuthorizedKey& entry : authorized_.entries()) {
    if (entry.role != Role::kAgent) continue;
    for (const IpAddress& address : entry.addresses) owners_.emplace(address, entry.key);
  }
}

JoinDecision JoinRules::decide(const JoinRequest& request, const net::CurveKey& token_key) {
  KnownToken* token = book_.token(token_key);
  // The gate has let it in before it was revoked or expired.
  if (token == nullptr) return {JoinReply::REJECTED, "the token was revoked"};
  if (token->expired(now_utc_)) {
    return {JoinReply::TOKEN_EXPIRED, "the token expired at " + formatUtc(token->expires_utc)};
  }
  if (token->role && *token->role != request.role) {
    return {JoinReply::WRONG_ROLE, "the token is for the role " + std::string(name(*token->role))};
  }
  if (auto refused = refusal(request)) return *refused;
  if (const AuthorizedKey* entry = authorized_.find(request.key)) return known(request, *entry);
  return newKey(request, *token);
}

// What nobody but the operator may change: which key has a host and its addresses.
std::optional<JoinDecision> JoinRules::refusal(const JoinRequest& request) const {
  if (const AuthorizedKey* entry = authorized_.find(request.key)) {
    if (entry->role != request.role ||
        (entry->role == Role::kAgent && entry->host != request.host)) {
      return JoinDecision{JoinReply::KEY_TAKEN, "this key is authorised for something else: " +
                                                    nameOf(request.key) + "; generate another one"};
    }
  } else if (request.role == Role::kCollector) {
    const auto& all = authorized_.entries();
    const auto collectors = std::count_if(all.begin(), all.end(), [](const AuthorizedKey& one) {
      return one.role == Role::kCollector;
    });
    if (static_cast<std::size_t>(collectors) >= wire::kMaxCollectors) {
      return JoinDecision{JoinReply::NOT_KEPT, "1024 collectors have joined already"};
    }
    const std::string wanted = collectorName(request);
    const bool taken = std::any_of(all.begin(), all.end(), [&](const AuthorizedKey& one) {
      return one.role == Role::kCollector && one.name == wanted;
    });
    if (taken) return hostTaken("collector", wanted);
  } else if (authorized_.hostNamed(request.host)) {
    return hostTaken("host", request.host);
  }
  for (const IpAddress& address : request.addresses) {
    const net::CurveKey* owner = ownerOf(address);
    if (owner == nullptr || *owner == request.key) continue;
    return JoinDecision{JoinReply::ADDRESS_TAKEN, address.text() + " belongs to the key of " +
                                                      nameOf(*owner) +
                                                      "; 'addresses' in agent.yaml names others"};
  }
  return std::nullopt;
}

// A host that has joined before may add addresses that nobody else has.
JoinDecision JoinRules::known(const JoinRequest& request, const AuthorizedKey& entry) {
  AuthorizedKey grown = entry;
  for (const IpAddress& address : request.addresses) {
    if (entry.speaksFor(address)) continue;
    if (auto added = addAddresses(address.text(), grown); !added) {
      return {JoinReply::NOT_KEPT, added.error().text()};
    }
  }
  if (grown.addresses == entry.addresses) return {JoinReply::AUTHORIZED, ""};
  if (const std::string why = whyUnproved(request); !why.empty()) {
    return {JoinReply::ADDRESS_TAKEN, why};
  }
  (void)authorized_.remove(request.key.text());
  return authorize(std::move(grown));
}

JoinDecision JoinRules::newKey(const JoinRequest& request, KnownToken& token) {
  const WaitingKey* waiting = book_.waiting(request.key);
  if (waiting != nullptr && waiting->rejected) {
    return {JoinReply::REJECTED, "this key was rejected at the controller"};
  }
  if (waiting == nullptr && token.usedUp()) {
    return {JoinReply::TOKEN_USED_UP,
            "the token was for " + std::to_string(token.uses) + " hosts, and all have joined"};
  }
  AuthorizedKey entry = entryOf(request, token, now_utc_);
  std::string why = token.manual ? "the token asks for it" : whyUnproved(request);
  if (!why.empty()) return wait(request, std::move(entry), token, std::move(why));
  auto made = authorize(std::move(entry));
  if (made.outcome != JoinReply::AUTHORIZED) return made;
  ++token.used;
  // It may have waited because of another token.
  std::erase_if(book_.requests,
                [&](const WaitingKey& other) { return other.entry.key == request.key; });
  return made;
}

JoinDecision JoinRules::authorize(AuthorizedKey entry) {
  const net::CurveKey key = entry.key;
  const std::vector<IpAddress> addresses = entry.addresses;
  if (auto added = authorized_.add(std::move(entry)); !added) {
    return {JoinReply::NOT_KEPT, added.error().text()};
  }
  for (const IpAddress& address : addresses) owners_.emplace(address, key);
  return {JoinReply::AUTHORIZED, ""};
}

JoinDecision JoinRules::wait(const JoinRequest& request, AuthorizedKey entry, KnownToken& token,
                             std::string why) {
  WaitingKey* waiting = book_.waiting(request.key);
  if (waiting == nullptr) {
    if (book_.requests.size() >= JoinBook::kMaxRequests) {
      return {JoinReply::BUSY, "too many keys wait to be approved"};
    }
    waiting = &book_.requests.emplace_back(entry);
    ++token.used;
  }
  waiting->entry = std::move(entry);
  waiting->from = request.from ? request.from->text() : "";
  waiting->why = std::move(why);
  if (waiting->asked_utc == 0) waiting->asked_utc = now_utc_ / kSecond * kSecond;
  return {JoinReply::WAITING, waiting->why};
}

// Why it is not certain that the host has its addresses; "" if its connection proves one of them.
// Who comes from this very machine has what it says.
std::string JoinRules::whyUnproved(const JoinRequest& request) const {
  if (request.role == Role::kCollector) return "";
  if (!request.from) return "nobody knows the address that it connects from";
  if (request.from->isLoopback()) return "";
  const std::string from = request.from->text();
  const net::CurveKey* owner = ownerOf(*request.from);
  if (owner != nullptr && *owner != request.key) {
    return "it connects from " + from + ", which belongs to " + nameOf(*owner);
  }
  if (has(request.addresses, *request.from) || has(request.machine, *request.from)) return "";
  return "it connects from " + from + ", which is none of its addresses";
}

const net::CurveKey* JoinRules::ownerOf(const IpAddress& address) const {
  const auto found = owners_.find(address);
  return found == owners_.end() ? nullptr : &found->second;
}

std::string JoinRules::nameOf(const net::CurveKey& key) const {
  const AuthorizedKey* entry = authorized_.find(key);
  if (entry == nullptr) return "another host";
  if (!entry->host.empty()) return "the host '" + entry->host + "'";
  return "'" + (entry->name.empty() ? std::string(key.text()) : entry->name) + "'";
}

}  // namespace pingloom::keys
