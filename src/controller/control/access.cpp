#include "controller/control/access.h"

#include <algorithm>
#include <utility>

#include "common/log.h"
#include "plan/endpoint_codec.h"
#include "wire/control_protocol.h"

namespace pingloom::controller {

using keys::AuthorizedKey;
using net::PeerRefusal;

void Access::set(std::shared_ptr<const keys::AuthorizedKeys> list,
                 std::shared_ptr<const keys::JoinBook> joins, Nanos now_utc) {
  list_ = std::move(list);
  book_ = std::move(joins);
  setGate(now_utc);
  encodeCollectors();
}

void Access::runDue(Nanos now_utc) {
  if (now_utc >= next_expiry_utc_) setGate(now_utc);
}

// The list comes last, because an authorised key may have waited before.
void Access::setGate(Nanos now_utc) {
  net::PeerGate::Keys allowed;
  tokens_.clear();
  next_expiry_utc_ = kNever;
  const keys::JoinBook none;
  const keys::JoinBook& book = book_ == nullptr ? none : *book_;
  for (const keys::KnownToken& token : book.tokens) {
    auto& refused = allowed[token.key];
    if (token.expired(now_utc)) {
      refused = PeerRefusal::kTokenExpired;
    } else if (token.usedUp()) {
      refused = PeerRefusal::kTokenUsedUp;
    } else {
      tokens_.insert(token.key);
      next_expiry_utc_ = std::min(next_expiry_utc_, token.expires_utc);
    }
  }
  for (const keys::WaitingKey& waiting : book.requests) {
    allowed[waiting.entry.key] = waiting.rejected ? PeerRefusal::kRejected : PeerRefusal::kWaiting;
  }
  for (const AuthorizedKey& entry : list_->entries()) {
    tokens_.erase(entry.key);
    allowed[entry.key] =
        entry.role == keys::Role::kAgent ? std::nullopt : std::optional(PeerRefusal::kWrongRole);
  }
  if (for_controllers_) allowed[gate_->own().public_key] = std::nullopt;
  gate_->allow(std::move(allowed));
}

void Access::encodeCollectors() {
  wire::ControllerMessage message;
  wire::CollectorKeys& out = *message.mutable_collectors();
  for (const AuthorizedKey& entry : list_->entries()) {
    if (entry.role != keys::Role::kCollector) continue;
    if (static_cast<std::size_t>(out.keys_size()) == wire::kMaxCollectors) {
      log::error("more than {} collectors are authorised; agents know the first ones",
                 wire::kMaxCollectors);
      break;
    }
    out.add_keys(entry.key.wire());
    if (entry.addresses.empty()) continue;
    wire::CollectorAddresses& places = *out.add_addresses();
    places.set_key(entry.key.wire());
    for (const IpAddress& address : entry.addresses) places.add_addresses(address.wire());
  }
  auto encoded = message.SerializeAsString();
  if (collectors_ != nullptr && *collectors_ == encoded) return;
  collectors_ = std::make_shared<const std::string>(std::move(encoded));
}

std::optional<Access::Denial> Access::maySpeak(const std::optional<net::CurveKey>& key) const {
  if (!key && without_keys_) return std::nullopt;
  if (!key) return Denial{PeerRefusal::kNoCurve, "the message names no key"};
  const auto reason = gate_->verdict(*key);
  if (!reason) return std::nullopt;
  return Denial{*reason, "the key " + std::string(key->text()) + " is not authorised any more"};
}

std::optional<Access::Denial> Access::mayHave(const AuthorizedKey& entry,
                                              const IpAddress& address) const {
  if (entry.speaksFor(address)) return std::nullopt;
  return Denial{PeerRefusal::kAddress, "the key " + std::string(entry.key.text()) +
                                           " is not authorised for the address " + address.text()};
}

// With RoCE the GID is an IP address to which all other agents would send their probes, whatever
// the LID. InfiniBand's own GIDs are neither IPv4 addresses nor addresses of a host.
std::optional<Access::Denial> Access::mayPointAt(const AuthorizedKey& entry,
                                                 const plan::Endpoint& endpoint) const {
  const IpAddress address = IpAddress::fromBytes16(endpoint.gid.data());
  const auto& all = list_->entries();
  const bool infiniband = endpoint.lid != 0 && !address.isV4() &&
                          std::none_of(all.begin(), all.end(), [&](const AuthorizedKey& any) {
                            return any.speaksFor(address);
                          });
  return infiniband ? std::nullopt : mayHave(entry, address);
}

// A host id belongs to the key that names it. A host id that no key names belongs to the first key
// that used it, and to keys that are authorised for all its addresses, such as a new key that
// replaces the old one.
std::optional<Access::Denial> Access::mayBe(const AuthorizedKey& entry, const std::string& host,
                                            const Agent* known) const {
  Denial denial{PeerRefusal::kHost, "the key " + std::string(entry.key.text()) +
                                        " is not authorised for the host '" + host + "'"};
  if (!keys::checkHost(host)) {
    // the text itself is not logged
    denial.text = "the host id is none: 1 to 253 characters and no blanks";
    return denial;
  }
  if (!entry.host.empty()) return entry.host == host ? std::nullopt : std::optional(denial);
  if (list_->hostNamed(host)) return denial;
  if (known == nullptr || known->info.public_key == entry.key.text()) return std::nullopt;
  const auto& theirs = known->info.addresses;
  const bool covers =
      !theirs.empty() && std::all_of(theirs.begin(), theirs.end(), [&](const IpAddress& address) {
        return entry.speaksFor(address);
      });
  return covers ? std::nullopt : std::optional(denial);
}

std::optional<Access::Denial> Access::isFree(const IpAddress& address) const {
  for (const AuthorizedKey& entry : list_->entries()) {
    if (!entry.speaksFor(address)) continue;
    return Denial{PeerRefusal::kAddress,
                  "the address " + address.text() + " belongs to a key, and this agent has none"};
  }
  return std::nullopt;
}

std::optional<Access::Denial> Access::mayRegisterWithoutKey(const wire::Register& request) const {
  if (list_->hostNamed(request.host())) {
    return Denial{PeerRefusal::kHost,
                  "the host '" + request.host() + "' has a key, and this agent has none"};
  }
  for (const std::string& bytes : request.addresses()) {
    const auto address = IpAddress::fromWire(bytes);
    if (!address) continue;
    if (auto denial = isFree(*address)) return denial;
  }
  for (const wire::Endpoint& in : request.endpoints()) {
    const auto endpoint = plan::decodeEndpoint(in);
    if (!endpoint) continue;
    if (auto denial = isFree(IpAddress::fromBytes16(endpoint->gid.data()))) return denial;
  }
  const auto pages = SocketAddress::parse(request.pages());
  return pages ? isFree(pages->address) : std::nullopt;
}

std::optional<Access::Denial> Access::mayRegister(const std::optional<net::CurveKey>& key,
                                                  const wire::Register& request,
                                                  const Agent* known) const {
  if (!key) return without_keys_ ? mayRegisterWithoutKey(request) : maySpeak(key);
  const AuthorizedKey* entry = list_->find(*key);
  if (entry == nullptr) return maySpeak(key);
  if (auto denial = mayBe(*entry, request.host(), known)) return denial;
  // The registry refuses malformed addresses.
  for (const std::string& bytes : request.addresses()) {
    const auto address = IpAddress::fromWire(bytes);
    if (!address) continue;
    if (auto denial = mayHave(*entry, *address)) return denial;
  }
  for (const wire::Endpoint& in : request.endpoints()) {
    const auto endpoint = plan::decodeEndpoint(in);
    if (!endpoint) continue;
    if (auto denial = mayPointAt(*entry, *endpoint)) return denial;
  }
  const auto pages = SocketAddress::parse(request.pages());
  return pages ? mayHave(*entry, pages->address) : std::nullopt;
}

// An agent without a key goes on until its successor has registered with one.
std::optional<Access::Denial> Access::mayStay(const AgentInfo& agent) const {
  if (agent.public_key.empty()) return maySpeak(std::nullopt);
  const auto key = net::CurveKey::parse(agent.public_key);
  if (!key) return maySpeak(std::nullopt);
  if (auto denial = maySpeak(*key)) return denial;
  const AuthorizedKey* entry = list_->find(*key);
  if (entry == nullptr) return maySpeak(std::nullopt);
  if (!entry->host.empty() ? entry->host != agent.host : list_->hostNamed(agent.host)) {
    return mayBe(*entry, agent.host, nullptr);
  }
  for (const IpAddress& address : agent.addresses) {
    if (auto denial = mayHave(*entry, address)) return denial;
  }
  for (const AgentEndpoint& at : agent.endpoints) {
    if (auto denial = mayPointAt(*entry, at.endpoint)) return denial;
  }
  return agent.pages ? mayHave(*entry, agent.pages->address) : std::nullopt;
}

}  // namespace pingloom::controller
