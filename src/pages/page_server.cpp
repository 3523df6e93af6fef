#include "pages/page_server.h"

#include <algorithm>
#include <limits>

#include "common/log.h"
#include "pages.pb.h"
#include "pages/definition_rules.h"
#include "pages/page_messages.h"
#include "rdma/control_peer.h"
#include "rdma/rc_message.h"

namespace pingloom::pages {
namespace {

wire::PageReply refusal(std::string reason, bool connect = false) {
  wire::PageReply reply;
  reply.mutable_refused()->set_reason(std::move(reason));
  reply.mutable_refused()->set_connect(connect);
  return reply;
}

void describe(const Page& page, wire::DirectoryPage& out) {
  out.set_place(static_cast<std::uint32_t>(page.place));
  out.set_generation(page.generation);
  out.set_owner(page.owner->id);
  out.set_flags(page.flags);
  out.set_application(page.owner->application);
  for (const auto& [name, value] : page.owner->labels) (*out.mutable_labels())[name] = value;
  out.set_user(page.owner->user);
  out.set_process(page.owner->process);
  out.set_namesake(page.owner->namesake);
  out.set_pod_uid(page.owner->pod.uid);
  out.set_container_id(page.owner->pod.container);
  out.set_schema(page.schema.bytes().data(), page.schema.bytes().size());
  out.set_schema_version(page.schema.version());
}

}  // namespace

Result<std::unique_ptr<PageServer>> PageServer::create(const PageServerOptions& options,
                                                       rdma::Device& device, PagePool& pool) {
  std::unique_ptr<PageServer> made(new PageServer(options, device, pool));
  net::RouterOptions router;
  router.largest = kRequestBytes;
  router.waiting_out = kAnswersWaiting;
  router.gate = options.gate;
  auto socket = net::ZmqRouter::bind(options.listen, router);
  if (!socket) return tl::unexpected(socket.error());
  made->socket_ = std::move(*socket);
  return made;
}

std::vector<int> PageServer::descriptors() const {
  std::vector<int> made = {socket_->descriptor()};
  for (const auto& [route, reader] : readers_) made.push_back(reader.endpoint->descriptor());
  return made;
}

Nanos PageServer::nextWake() const {
  if (socket_->readable()) return 0;
  Nanos wake = std::numeric_limits<Nanos>::max();
  if (pool_.retiring()) wake = pool_.retiringSince() + kMaxMove;
  for (const auto& [route, reader] : readers_) {
    wake = std::min({wake, reader.heard + kPatience, reader.endpoint->nextWake()});
  }
  return wake;
}

bool PageServer::mayRead(const std::optional<net::CurveKey>& key) const {
  return options_.gate == nullptr || (key && !options_.gate->verdict(*key));
}

bool PageServer::mayStay(const Reader& reader) const {
  if (!mayRead(reader.key)) return false;
  return !reader.elsewhere || options_.gate->speaksFor(*reader.key, *reader.elsewhere);
}

PageServerCounters PageServer::counters() const {
  PageServerCounters counters = counters_;
  counters.flood = socket_->dropped();
  return counters;
}

void PageServer::dropRevoked() {
  if (options_.gate == nullptr || options_.gate->generation() == keys_seen_) return;
  keys_seen_ = options_.gate->generation();
  const auto dropped =
      std::erase_if(readers_, [this](const auto& entry) { return !mayStay(entry.second); });
  advice_changed_ = advice_changed_ || dropped != 0;
}

void PageServer::drop(const std::string& route) {
  if (readers_.erase(route) != 0) advice_changed_ = true;
}

Status PageServer::takeAdvice(Reader& reader, const wire::DirectoryRequest& request) {
  if (request.keep_all_size() > static_cast<int>(TraceAdvice::kMaxKeepAll)) {
    return makeError(reader.name, "names too many owners whose traces are to be kept");
  }
  TraceAdvice advice{request.keep_one_in(), {request.keep_all().begin(), request.keep_all().end()}};
  std::sort(advice.keep_all.begin(), advice.keep_all.end());
  if (advice == reader.advice) return {};
  reader.advice = std::move(advice);
  advice_changed_ = true;
  return {};
}

// Pages that came since the last time have no advice yet, or that of an earlier agent. What was
// overwritten is mended after kAdviseAgain.
void PageServer::advise(Nanos now) {
  const std::pair pages{pool_.epoch(), pool_.directoryVersion()};
  if (!advice_changed_ && pages == advised_ && now < next_advice_) return;
  advice_changed_ = false;
  advised_ = pages;
  next_advice_ = now + kAdviseAgain;
  pool_.advise([this](std::uint64_t owner) {
    std::uint32_t least = 0;
    for (const auto& [route, reader] : readers_) {
      const std::uint32_t said = reader.advice.of(owner);
      if (said != 0 && (least == 0 || said < least)) least = said;
    }
    return least;
  });
}

void PageServer::work(Nanos now) {
  dropRevoked();
  for (int i = 0; i < kRequestsAtATime; ++i) {
    const auto message = socket_->receive();
    if (!message) break;
    take(*message, now);
  }
  pollEndpoints(now);
  retireRange(now);
  dropBehind(now);
  advise(now);
}

void PageServer::pollEndpoints(Nanos now) {
  for (auto entry = readers_.begin(); entry != readers_.end();) {
    const bool stays = pollEndpoint(entry->first, entry->second, now);
    advice_changed_ = advice_changed_ || !stays;
    entry = stays ? std::next(entry) : readers_.erase(entry);
  }
}

// Returns false if the reader's endpoint has to be destroyed.
bool PageServer::pollEndpoint(const std::string& route, Reader& reader, Nanos now) {
  events_.clear();
  const Status polled = reader.endpoint->poll(events_);
  if (!polled) {
    if (reader.connecting) {
      send(route, notConnected(polled.error()));
    } else {
      ++counters_.failed;
      log::info("metric pages: collector {} is gone: {}", reader.name, polled.error().text());
    }
    return false;
  }
  if (reader.connecting && reader.endpoint->state() != rdma::RcState::kConnecting) {
    reader.connecting = false;
    reader.heard = now;
    send(route, connected(reader));
  }
  return now - reader.heard < kPatience;
}

void PageServer::retireRange(Nanos now) {
  if (!pool_.retiring()) return;
  const bool moved = std::all_of(readers_.begin(), readers_.end(), [&](const auto& entry) {
    return entry.second.epoch == pool_.epoch() || entry.second.epoch == 0;
  });
  if (moved || now - pool_.retiringSince() >= kMaxMove) pool_.retire();
}

// A reader that has connected since a removal was given what is left, so it cannot be behind.
void PageServer::dropBehind(Nanos now) {
  const std::uint64_t wanted = pool_.removalVersion();
  if (wanted != removal_seen_ && (removals_.empty() || now - removals_.back().first >= kSecond)) {
    removals_.emplace_back(now, wanted);
    removal_seen_ = wanted;
  }
  while (!removals_.empty() && now - removals_.front().first >= kMaxBehind) {
    const auto [since, version] = removals_.front();
    removals_.pop_front();
    const auto dropped =
        std::erase_if(readers_, [&, since = since, version = version](const auto& entry) {
          const Reader& reader = entry.second;
          if (reader.connected > since || reader.version >= version) return false;
          log::info("metric pages: collector {} has not followed changes and has to connect again",
                    reader.name);
          return true;
        });
    counters_.failed += dropped;
    advice_changed_ = advice_changed_ || dropped != 0;
  }
}

void PageServer::take(const net::ZmqRouter::Message& message, Nanos now) {
  Asked asked{message.route, {}, std::nullopt, {}};
  if (message.frame != nullptr) {  // a message of several frames is malformed
    asked.bytes = message.frame->bytes();
    asked.key = message.frame->key();
    asked.peer = message.frame->peer();
  }
  if (auto reply = answer(asked, now)) send(message.route, std::move(*reply));
}

void PageServer::send(const std::string& route, wire::PageReply reply) {
  reply.set_version(kPageControlVersion);
  socket_->send(route, reply.SerializeAsString());
}

std::optional<wire::PageReply> PageServer::answer(const Asked& asked, Nanos now) {
  ++counters_.requests;
  auto reply = replyTo(asked, now);
  if (reply) reply->set_version(kPageControlVersion);
  return reply;
}

std::optional<wire::PageReply> PageServer::replyTo(const Asked& asked, Nanos now) {
  wire::PageRequest request;
  if (asked.bytes.empty() ||
      !request.ParseFromArray(asked.bytes.data(), static_cast<int>(asked.bytes.size()))) {
    ++counters_.malformed;
    return refusal("that was no request");
  }
  if (request.version() != kPageControlVersion) {
    ++counters_.version;
    return refusal("this agent speaks version 1 of the pages' control protocol");
  }
  const std::string route(asked.route);
  if (!mayRead(asked.key)) {
    ++counters_.revoked;
    drop(route);
    options_.gate->refuse(net::PeerRefusal::kRevoked, asked.peer, "", now);
    return refusal("this collector's key is not authorised any more");
  }
  auto reply = carryOut(asked, request, now);
  const auto reader = readers_.find(route);
  if (reader != readers_.end()) reader->second.key = asked.key;
  return reply;
}

std::optional<wire::PageReply> PageServer::carryOut(const Asked& asked,
                                                    const wire::PageRequest& request, Nanos now) {
  if (request.has_connect()) return connect(asked, request.connect(), now);
  if (!request.has_directory()) {
    ++counters_.malformed;
    return refusal("that was no request");
  }
  const auto reader = readers_.find(std::string(asked.route));
  if (reader == readers_.end() || reader->second.connecting) {
    ++counters_.unknown;
    return refusal("connect first", true);
  }
  if (auto taken = takeAdvice(reader->second, request.directory()); !taken) {
    ++counters_.malformed;
    return refusal(taken.error().reason);
  }
  reader->second.heard = now;
  reader->second.endpoint->peerProved();  // it asks because it has received `connected`
  return directory(reader->second, request.directory());
}

// Returns the address of the endpoint if only the key permits it.
Result<std::optional<IpAddress>> PageServer::checkPeer(const Asked& asked,
                                                       const rdma::RcAddress& peer) const {
  const auto control = IpAddress::parse(asked.peer);
  const Status own =
      control ? rdma::checkControlPeer(device_.info(), peer, *control)
              : Status(makeError(asked.peer, "the address that this came from is not known"));
  if (own) return std::nullopt;
  const auto named = rdma::addressToCheck(device_.info(), peer);
  if (!named || !asked.key || options_.gate == nullptr) return tl::unexpected(own.error());
  if (options_.gate->speaksFor(*asked.key, *named)) return named;
  return makeError(own.error().entity, own.error().reason + ", or authorise its key for " +
                                           named->text() + " (docs/keys.md)");
}

std::optional<wire::PageReply> PageServer::connect(const Asked& asked,
                                                   const wire::PageConnect& request, Nanos now) {
  const auto peer = rdma::readEndpoint(request.endpoint());
  if (!peer || request.collector().size() > kMaxCollectorName || !isText(request.collector())) {
    ++counters_.malformed;
    return refusal("the endpoint or the name is malformed");
  }
  const std::string route(asked.route);
  drop(route);
  const auto elsewhere = checkPeer(asked, *peer);
  if (!elsewhere) {
    ++counters_.elsewhere;
    return refusal(elsewhere.error().text());
  }
  if (readers_.size() >= kReaders) {
    ++counters_.full;
    return refusal("this agent has as many collectors as it takes");
  }
  rdma::RcOptions options;
  options.access = rdma::Access::kRead;
  options.depth = 1;  // this side posts no requests
  options.unproved = true;
  auto endpoint = pool_.domain().createRc(options);
  const Status started =
      endpoint ? (*endpoint)->startConnect(*peer) : tl::unexpected(endpoint.error());
  if (!started) return notConnected(started.error());
  const bool connecting = (*endpoint)->state() == rdma::RcState::kConnecting;
  Reader& reader = readers_[route];
  reader = Reader{request.collector(), std::move(*endpoint), 0,         now, now, 0,
                  asked.key,           connecting,           *elsewhere};
  if (connecting) return std::nullopt;
  return connected(reader);
}

wire::PageReply PageServer::notConnected(const Error& why) {
  ++counters_.device;
  return refusal(why.text());
}

wire::PageReply PageServer::connected(const Reader& reader) {
  ++counters_.connected;
  wire::PageReply reply;
  rdma::writeEndpoint(reader.endpoint->address(), *reply.mutable_connected()->mutable_endpoint());
  reply.mutable_connected()->set_host(options_.host);
  reply.mutable_connected()->set_incarnation(options_.incarnation);
  reply.mutable_connected()->set_device(device_.info().name);
  return reply;
}

wire::PageReply PageServer::directory(Reader& reader, const wire::DirectoryRequest& request) {
  const bool other = request.epoch() != pool_.epoch();
  // A reader that was told of a fresh range keeps reading its own until it reports that it has
  // moved.
  reader.epoch = request.epoch() == 0 ? pool_.epoch() : request.epoch();
  reader.version = request.since();
  wire::PageReply reply;
  wire::Directory& out = *reply.mutable_directory();
  out.set_epoch(pool_.epoch());
  out.set_complete(other);
  out.set_address(pool_.range().region().address());
  out.set_rkey(pool_.range().region().rkey());
  out.set_pages(static_cast<std::uint32_t>(pool_.range().pages()));
  std::size_t bytes = 0;
  out.set_version(pool_.directoryVersion());
  // An application clears a new page, and with it advice that was there before.
  advice_changed_ = advice_changed_ || other || request.since() != pool_.directoryVersion();
  for (const PagePool::Change& change : pool_.changesSince(other ? 0 : request.since())) {
    if (bytes > kAnswerBytes) {
      out.set_more(true);
      break;
    }
    out.set_version(change.version);
    if (change.page == nullptr) {
      out.add_gone(static_cast<std::uint32_t>(change.place));
      bytes += sizeof(std::uint32_t);
      continue;
    }
    wire::DirectoryPage& described = *out.add_changed();
    describe(*change.page, described);
    bytes += described.ByteSizeLong();
  }
  if (!out.more()) out.set_version(pool_.directoryVersion());
  return reply;
}

}  // namespace pingloom::pages
