#include "collector/stores/store_server.h"

#include <algorithm>
#include <utility>

#include "common/log.h"
#include "rdma/control_peer.h"

namespace pingloom::collector {
namespace {

store::Refused refusePermanently(std::string reason) { return {std::move(reason), true}; }

}  // namespace

Result<std::unique_ptr<StoreServer>> StoreServer::create(const StoreServerOptions& options,
                                                         rdma::Device& device,
                                                         std::vector<KeptStore> stores) {
  std::unique_ptr<StoreServer> made(new StoreServer(options, device));
  net::RouterOptions router;
  router.largest = store::kMaxRequestBytes;
  router.waiting_out = kAnswersWaiting;
  router.gate = options.gate;
  auto socket = net::ZmqRouter::bind(options.listen, router);
  if (!socket) return tl::unexpected(socket.error());
  made->socket_ = std::move(*socket);
  for (KeptStore& kept : stores) {
    std::string translator = kept.spec.translator;
    made->entries_.emplace(std::move(translator), Entry{std::move(kept), std::nullopt});
  }
  made->allowKeys();
  return made;
}

// Tells the gate whose handshakes may succeed.
void StoreServer::allowKeys() {
  if (options_.gate == nullptr) return;
  net::PeerGate::Keys allowed;
  for (const auto& [translator, entry] : entries_) {
    const auto& key = entry.kept.spec.key;
    if (key && !entry.barred) allowed[*key] = std::nullopt;
  }
  options_.gate->allow(std::move(allowed));
}

void StoreServer::permit(const StoreSpecs& specs) {
  for (auto& named : entries_) {
    Entry& entry = named.second;
    const auto spec = std::find_if(specs.begin(), specs.end(), [&](const StoreSpec& one) {
      return one.translator == named.first;
    });
    entry.barred = spec == specs.end();
    if (entry.barred) {
      revoke(entry);
      continue;
    }
    // To begin or end with keys needs a restart.
    if (!spec->key || spec->key == entry.kept.spec.key) continue;
    entry.kept.spec.key = spec->key;
    revoke(entry);
  }
  allowKeys();
}

void StoreServer::revoke(Entry& entry) {
  if (!entry.link) return;
  ++counters_.revoked;
  log::warning("store of {}: the translator may not write it any more; its connection is closed",
               entry.kept.spec.translator);
  entry.link.reset();
}

std::vector<int> StoreServer::descriptors() const {
  std::vector<int> made = {socket_->descriptor()};
  for (const auto& [translator, entry] : entries_) {
    if (entry.link) made.push_back(entry.link->endpoint->descriptor());
  }
  return made;
}

Nanos StoreServer::nextWake() const {
  if (socket_->readable()) return kAtOnce;
  Nanos wake = kNever;
  for (const auto& [translator, entry] : entries_) {
    if (!entry.link) continue;
    wake = std::min({wake, entry.link->heard + store::kPatience, entry.link->endpoint->nextWake()});
  }
  return wake;
}

bool StoreServer::connected(std::string_view translator) const {
  const auto found = entries_.find(translator);
  return found != entries_.end() && found->second.link && !found->second.link->connecting;
}

StoreCounters StoreServer::counters() const {
  StoreCounters counters = counters_;
  counters.flood = socket_->dropped();
  return counters;
}

void StoreServer::work(Nanos now) {
  for (int i = 0; i < kRequestsAtATime; ++i) {
    const auto message = socket_->receive();
    if (!message) break;
    take(*message, now);
  }
  for (auto& [translator, entry] : entries_) {
    if (entry.link) pollLink(entry, now);
  }
}

void StoreServer::pollLink(Entry& entry, Nanos now) {
  Link& link = *entry.link;
  events_.clear();
  if (const Status polled = link.endpoint->poll(events_); !polled) {
    if (link.connecting) {
      ++counters_.device;
      send(link.route, store::Refused{polled.error().text(), false});
    } else {
      ++counters_.failed;
      log::info("store of {}: the connection ended: {}", link.request.translator,
                polled.error().text());
    }
    entry.link.reset();
    return;
  }
  if (link.connecting && link.endpoint->state() != rdma::RcState::kConnecting) {
    link.connecting = false;
    link.heard = now;
    send(link.route, describe(entry));
  }
  if (now - link.heard < store::kPatience) return;
  ++counters_.silent;
  log::info("store of {}: nothing was heard for 30 s", link.request.translator);
  entry.link.reset();
}

void StoreServer::take(const net::ZmqRouter::Message& message, Nanos now) {
  Asked asked{message.route, {}, std::nullopt, {}};
  if (message.frame != nullptr) {  // a message of several frames is malformed
    asked.bytes = message.frame->bytes();
    asked.key = message.frame->key();
    asked.peer = message.frame->peer();
  }
  if (const auto reply = answer(asked, now)) send(message.route, *reply);
}

void StoreServer::send(const std::string& route, const store::ConnectReply& reply) {
  socket_->send(route, store::encodeReply(reply));
}

std::optional<store::ConnectReply> StoreServer::answer(const Asked& asked, Nanos now) {
  ++counters_.requests;
  const auto request = store::decodeRequest(asked.bytes);
  if (!request) {
    const bool version = request.error() == store::BadRequest::kVersion;
    ++(version ? counters_.version : counters_.malformed);
    return refusePermanently(version ? "this collector speaks version 1 of the stores' protocol"
                                     : "the request is malformed");
  }
  if (auto refused = refusalFor(asked, *request)) return std::move(*refused);
  return connect(entries_.find(request->translator)->second, asked, *request, now);
}

std::optional<store::Refused> StoreServer::refusalFor(const Asked& asked,
                                                      const store::ConnectRequest& request) {
  const auto found = entries_.find(request.translator);
  if (found == entries_.end() || found->second.barred) {
    ++counters_.unknown;
    return refusePermanently("no store is for a translator '" + request.translator +
                             "'; see the collector's 'stores:'");
  }
  if (options_.gate != nullptr && asked.key != found->second.kept.spec.key) {
    ++counters_.foreign_key;
    return refusePermanently("that store is for a translator with another key");
  }
  if (const Status own = checkPeer(asked, request.endpoint); !own) {
    ++counters_.elsewhere;
    return refusePermanently(own.error().text());
  }
  return std::nullopt;
}

Status StoreServer::checkPeer(const Asked& asked, const rdma::RcAddress& peer) const {
  const auto control = IpAddress::parse(asked.peer);
  if (!control) return makeError(asked.peer, "the address that this came from is not known");
  return rdma::checkControlPeer(device_.info(), peer, *control);
}

std::optional<store::ConnectReply> StoreServer::connect(Entry& entry, const Asked& asked,
                                                        const store::ConnectRequest& request,
                                                        Nanos now) {
  if (entry.link && entry.link->request == request) {
    entry.link->heard = now;
    entry.link->route = asked.route;
    if (entry.link->connecting) return std::nullopt;
    return describe(entry);
  }
  entry.link.reset();  // first of all, so that there are never two writers
  auto link = makeLink(entry, request);
  if (!link) {
    ++counters_.device;
    return store::Refused{link.error().text(), false};
  }
  entry.kept.file->nextEpoch();
  entry.link = std::move(*link);
  entry.link->route = asked.route;
  entry.link->heard = now;
  ++counters_.connected;
  log::info("store of {}: epoch {}, a writer at {}", request.translator,
            entry.kept.file->head().epoch, asked.peer);
  if (entry.link->connecting) return std::nullopt;
  return describe(entry);
}

Result<StoreServer::Link> StoreServer::makeLink(const Entry& entry,
                                                const store::ConnectRequest& request) {
  constexpr rdma::Access kAccess = rdma::Access::kRead | rdma::Access::kWrite;
  Link link;
  link.request = request;
  auto domain = device_.createDomain();
  if (!domain) return tl::unexpected(domain.error());
  link.domain = std::move(*domain);
  auto region = link.domain->registerMemory(entry.kept.file->region(), kAccess);
  if (!region) return tl::unexpected(region.error());
  link.region = std::move(*region);
  rdma::RcOptions options;
  options.access = kAccess;
  options.depth = 1;  // this side posts no requests
  auto endpoint = link.domain->createRc(options);
  if (!endpoint) return tl::unexpected(endpoint.error());
  link.endpoint = std::move(*endpoint);
  if (auto started = link.endpoint->startConnect(request.endpoint); !started) {
    return tl::unexpected(started.error());
  }
  link.connecting = link.endpoint->state() == rdma::RcState::kConnecting;
  return link;
}

store::Connected StoreServer::describe(const Entry& entry) const {
  const Link& link = *entry.link;
  return {link.endpoint->address(), link.region->address(), link.region->rkey(),
          entry.kept.file->head()};
}

}  // namespace pingloom::collector
