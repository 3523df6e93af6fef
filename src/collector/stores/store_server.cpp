#include "collector/stores/store_server.h"

#include <algorithm>
#include <utility>

#include "common/log.h"
#include "rdma/control_peer.h"

namespace pingloom::collector {
namespace {

store::Refused refusePermanently(std::string reason) { return {std::move(reason), true}; }

std::string_view name(store::Purpose purpose) {
  return purpose == store::Purpose::kRead ? "reader" : "translator";
}

bool contains(const std::vector<net::CurveKey>& keys, const std::optional<net::CurveKey>& key) {
  return key && std::find(keys.begin(), keys.end(), *key) != keys.end();
}

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
    // The translators of a shared store come and go, so an epoch of it is as long as our process.
    if (kept.file->head().isShared()) kept.file->nextEpoch();
    made->entries_.emplace(std::move(translator), Entry{std::move(kept), {}, {}});
  }
  made->allowKeys();
  return made;
}

// Tells the gate whose handshakes may succeed.
void StoreServer::allowKeys() {
  if (options_.gate == nullptr) return;
  net::PeerGate::Keys allowed;
  for (const auto& [translator, entry] : entries_) {
    if (entry.barred) continue;
    const StoreSpec& spec = entry.kept.spec;
    for (const net::CurveKey& key : writersOf(spec)) allowed[key] = std::nullopt;
    for (const net::CurveKey& key : spec.readers) allowed[key] = std::nullopt;
  }
  options_.gate->allow(std::move(allowed));
}

void StoreServer::permit(const StoreSpecs& specs) {
  for (auto& named : entries_) {
    const auto spec = std::find_if(specs.begin(), specs.end(), [&](const StoreSpec& one) {
      return one.translator == named.first;
    });
    permit(named.second, spec == specs.end() ? nullptr : &*spec);
  }
  allowKeys();
}

// `spec` is what the configuration says about the store; nullptr if it does not have it any more.
void StoreServer::permit(Entry& entry, const StoreSpec* spec) {
  entry.barred = spec == nullptr;
  if (spec == nullptr) {
    revoke(entry.writers, {});
    revoke(entry.readers, {});
    return;
  }
  const auto writers = writersOf(*spec);
  if (writers.empty()) return;  // to begin or end with keys needs a restart
  revoke(entry.writers, writers);
  revoke(entry.readers, spec->readers);
  entry.kept.spec.key = spec->key;
  entry.kept.spec.writers = spec->writers;
  entry.kept.spec.readers = spec->readers;
}

std::vector<net::CurveKey> StoreServer::writersOf(const StoreSpec& spec) {
  return spec.key ? std::vector{*spec.key} : spec.writers;
}

void StoreServer::revoke(std::vector<std::unique_ptr<StoreLink>>& links,
                         const std::vector<net::CurveKey>& keys) {
  std::erase_if(links, [&](const auto& link) {
    if (contains(keys, link->key)) return false;
    ++counters_.revoked;
    log::warning("store of {}: the {} has lost its right; its connection is closed",
                 link->request().translator, name(link->request().purpose));
    return true;
  });
}

std::vector<int> StoreServer::descriptors() const {
  std::vector<int> made = {socket_->descriptor()};
  for (const auto& [translator, entry] : entries_) {
    for (const auto& writer : entry.writers) made.push_back(writer->endpoint().descriptor());
    for (const auto& reader : entry.readers) made.push_back(reader->endpoint().descriptor());
  }
  return made;
}

Nanos StoreServer::nextWake() const {
  if (socket_->readable()) return kAtOnce;
  Nanos wake = kNever;
  const auto consider = [&wake](const StoreLink& link) {
    wake = std::min({wake, link.heard + store::kPatience, link.endpoint().nextWake()});
  };
  for (const auto& [translator, entry] : entries_) {
    for (const auto& writer : entry.writers) consider(*writer);
    for (const auto& reader : entry.readers) consider(*reader);
  }
  return wake;
}

bool StoreServer::connected(std::string_view translator) const {
  const auto found = entries_.find(translator);
  if (found == entries_.end()) return false;
  return std::any_of(found->second.writers.begin(), found->second.writers.end(),
                     [](const auto& writer) { return !writer->connecting; });
}

std::size_t StoreServer::readers() const {
  std::size_t readers = 0;
  for (const auto& [translator, entry] : entries_) readers += entry.readers.size();
  return readers;
}

StoreCounters StoreServer::counters() const {
  StoreCounters counters = counters_;
  counters.flood = socket_->dropped();
  counters.readers = readers();
  return counters;
}

void StoreServer::work(Nanos now) {
  for (int i = 0; i < kRequestsAtATime; ++i) {
    const auto message = socket_->receive();
    if (!message) break;
    take(*message, now);
  }
  for (auto& [translator, entry] : entries_) {
    poll(entry.writers, now);
    poll(entry.readers, now);
  }
}

void StoreServer::poll(std::vector<std::unique_ptr<StoreLink>>& links, Nanos now) {
  std::erase_if(links, [&](const auto& link) { return !lives(*link, now); });
}

bool StoreServer::lives(StoreLink& link, Nanos now) {
  const std::string& translator = link.request().translator;
  const auto peer = name(link.request().purpose);
  events_.clear();
  if (const Status polled = link.endpoint().poll(events_); !polled) {
    if (link.connecting) {
      ++counters_.device;
      send(link.route, store::Refused{polled.error().text(), false});
    } else {
      ++counters_.failed;
      log::info("store of {}: the connection of its {} ended: {}", translator, peer,
                polled.error().text());
    }
    return false;
  }
  if (link.connecting && link.endpoint().state() != rdma::RcState::kConnecting) {
    link.connecting = false;
    link.heard = now;
    send(link.route, link.describe());
  }
  if (now - link.heard < store::kPatience) return true;
  ++counters_.silent;
  log::info("store of {}: nothing was heard of its {} for 30 s", translator, peer);
  return false;
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
  if (const auto* leaves = std::get_if<store::LeaveRequest>(&*request)) return leave(leaves->began);
  const auto* connects = std::get_if<store::ConnectRequest>(&*request);
  if (connects == nullptr) return namesFor(asked);
  if (auto refused = refusalFor(asked, *connects)) return std::move(*refused);
  return connect(entries_.find(connects->translator)->second, asked, *connects, now);
}

// Only the reader itself knows what its request said.
store::Left StoreServer::leave(const store::ConnectRequest& began) {
  if (const auto found = entries_.find(began.translator); found != entries_.end()) {
    std::erase_if(found->second.readers,
                  [&](const auto& reader) { return reader->request() == began; });
  }
  return {};
}

bool StoreServer::mayRead(const Entry& entry, const std::optional<net::CurveKey>& key) const {
  return options_.gate == nullptr || contains(entry.kept.spec.readers, key);
}

store::StoreNames StoreServer::namesFor(const Asked& asked) const {
  store::StoreNames names;
  for (const auto& [translator, entry] : entries_) {
    if (!entry.barred && mayRead(entry, asked.key)) names.translators.push_back(translator);
  }
  return names;
}

std::optional<store::Refused> StoreServer::refusalFor(const Asked& asked,
                                                      const store::ConnectRequest& request) {
  const auto found = entries_.find(request.translator);
  if (found == entries_.end() || found->second.barred) {
    ++counters_.unknown;
    return refusePermanently("no store is for a translator '" + request.translator +
                             "'; see the collector's 'stores:'");
  }
  Entry& entry = found->second;
  const bool reads = request.purpose == store::Purpose::kRead;
  if (reads && !mayRead(entry, asked.key)) {
    ++counters_.foreign_key;
    return refusePermanently("the key may not read that store; see its 'readers:'");
  }
  if (!reads && options_.gate != nullptr && !contains(writersOf(entry.kept.spec), asked.key)) {
    ++counters_.foreign_key;
    return refusePermanently("that store is for a translator with another key");
  }
  if (const Status own = checkPeer(asked, request.endpoint); !own) {
    ++counters_.elsewhere;
    return refusePermanently(own.error().text());
  }
  if (linkOf(entry, request) != nullptr) return std::nullopt;
  if (reads && readers() >= kMaxReaders) {
    ++counters_.crowded;
    return store::Refused{"the collector has 64 readers already", false};
  }
  if (!reads && entry.writers.size() >= kMaxWriters) {
    ++counters_.crowded;
    return store::Refused{"the store has 16 translators already", false};
  }
  return std::nullopt;
}

Status StoreServer::checkPeer(const Asked& asked, const rdma::RcAddress& peer) const {
  const auto control = IpAddress::parse(asked.peer);
  if (!control) return makeError(asked.peer, "the address that this came from is not known");
  return rdma::checkControlPeer(device_.info(), peer, *control);
}

StoreLink* StoreServer::linkOf(Entry& entry, const store::ConnectRequest& request) {
  for (const auto* links : {&entry.writers, &entry.readers}) {
    for (const auto& link : *links) {
      if (link->request() == request) return link.get();
    }
  }
  return nullptr;
}

std::optional<store::ConnectReply> StoreServer::connect(Entry& entry, const Asked& asked,
                                                        const store::ConnectRequest& request,
                                                        Nanos now) {
  if (StoreLink* const link = linkOf(entry, request)) {
    link->heard = now;
    link->route = asked.route;
    if (link->connecting) return std::nullopt;
    return link->describe();
  }
  const bool reads = request.purpose == store::Purpose::kRead;
  const bool alone = !reads && !entry.kept.file->head().isShared();
  if (alone) entry.writers.clear();  // first of all, so that there are never two writers
  auto made = StoreLink::make(*entry.kept.file, request, device_);
  if (!made) {
    ++counters_.device;
    return store::Refused{made.error().text(), false};
  }
  StoreLink& link = **made;
  link.route = asked.route;
  link.key = asked.key;
  link.heard = now;
  ++counters_.connected;
  if (alone) entry.kept.file->nextEpoch();
  (reads ? entry.readers : entry.writers).push_back(std::move(*made));
  if (reads) {  // they come and go with each question
    log::debug("store of {}: a reader at {}", request.translator, asked.peer);
  } else {
    log::info("store of {}: epoch {}, a translator at {}", request.translator,
              entry.kept.file->head().epoch, asked.peer);
  }
  if (link.connecting) return std::nullopt;
  return link.describe();
}

}  // namespace pingloom::collector
