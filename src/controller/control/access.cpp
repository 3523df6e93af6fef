#include "controller/control/access.h"

#include <algorithm>
#include <utility>

#include "common/log.h"
#include "plan/endpoint_codec.h"

namespace pingloom::controller {

using keys::AuthorizedKey;
using net::PeerRefusal;

void Access::set(std::shared_ptr<const keys::AuthorizedKeys> list) {
  list_ = std::move(list);
  net::PeerGate::Keys allowed;
  for (const AuthorizedKey& entry : list_->entries()) {
    allowed[entry.key] = entry.role == keys::Role::kAgent;
  }
  gate_->allow(std::move(allowed));
  encodeCollectors();
}

void Access::encodeCollectors() {
  wire::ControllerMessage message;
  wire::CollectorKeys& out = *message.mutable_collectors();
  for (const AuthorizedKey& entry : list_->entries()) {
    if (entry.role != keys::Role::kCollector) continue;
    if (static_cast<std::size_t>(out.keys_size()) == kMaxCollectors) {
      log::error("more than {} collectors are authorised; agents know the first ones",
                 kMaxCollectors);
      break;
    }
    out.add_keys(entry.key.wire());
  }
  auto encoded = message.SerializeAsString();
  if (collectors_ != nullptr && *collectors_ == encoded) return;
  collectors_ = std::make_shared<const std::string>(std::move(encoded));
}

std::optional<Access::Denial> Access::maySpeak(const std::optional<net::CurveKey>& key) const {
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

std::optional<Access::Denial> Access::mayRegister(const net::CurveKey& key,
                                                  const wire::Register& request,
                                                  const Agent* known) const {
  const AuthorizedKey* entry = list_->find(key);
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

std::optional<Access::Denial> Access::mayStay(const AgentInfo& agent) const {
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
