#include "pages/registration_server.h"

#include <fmt/format.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <limits>

#include "pages/definition_rules.h"
#include "pages/registration_socket.h"

namespace pingloom::pages {
namespace {

constexpr int kMessagesAtATime = 64;  // messages of one connection before the others get their turn
constexpr int kAcceptedAtATime = 64;  // connections accepted before the present ones get their turn

template <typename Number>
void append(std::vector<std::uint8_t>& out, Number value) {
  const auto at = out.size();
  out.resize(at + sizeof value);
  std::memcpy(out.data() + at, &value, sizeof value);
}

// Tells whether the socket file was left behind by a killed agent, so that nothing listens on it. A
// file of another kind does not count.
bool isDeadSocket(const sockaddr_un& address) {
  struct stat about {};
  if (lstat(address.sun_path, &about) != 0 || !S_ISSOCK(about.st_mode)) return false;
  const UniqueFd probe(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  return connect(probe.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 &&
         errno == ECONNREFUSED;
}

}  // namespace

Result<std::unique_ptr<RegistrationServer>> RegistrationServer::create(
    const RegistrationOptions& options, PagePool& pool) {
  std::unique_ptr<RegistrationServer> made(new RegistrationServer(options, pool));
  if (auto status = made->listen(); !status) return tl::unexpected(status.error());
  return made;
}

Status RegistrationServer::listen() {
  const std::string entity = options_.socket.string();
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (entity.size() >= sizeof address.sun_path) {
    return makeError(entity, "the path of a unix socket has at most 107 bytes");
  }
  std::memcpy(address.sun_path, entity.data(), entity.size());
  UniqueFd listener(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  const auto* raw = reinterpret_cast<const sockaddr*>(&address);
  if (bind(listener.get(), raw, sizeof address) != 0) {
    if (errno != EADDRINUSE) return makeErrnoError(entity, "cannot be made", errno);
    if (!isDeadSocket(address)) {
      return makeError(entity,
                       "it is another agent's, or no socket; give this one 'pages: socket:'");
    }
    unlink(entity.c_str());
    if (bind(listener.get(), raw, sizeof address) != 0) {
      return makeErrnoError(entity, "cannot be made", errno);
    }
  }
  const bool checked = !options_.users.empty() || !options_.groups.empty();
  // The peer's identity from the kernel then decides who is served, and not the file's mode.
  const mode_t mode = checked ? 0666 : 0660;
  if (chmod(entity.c_str(), mode) != 0 || ::listen(listener.get(), 128) != 0) {
    return makeErrnoError(entity, "cannot listen", errno);
  }
  listener_ = std::move(listener);
  epoll_ = UniqueFd(epoll_create1(EPOLL_CLOEXEC));
  epoll_event event{EPOLLIN, {.fd = listener_.get()}};
  if (epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, listener_.get(), &event) != 0) {
    return makeErrnoError(entity, "cannot wait for connections", errno);
  }
  return {};
}

RegistrationServer::~RegistrationServer() {
  for (auto& [descriptor, connection] : connections_) close(connection);
  if (listener_.valid()) unlink(options_.socket.c_str());
}

bool RegistrationServer::allowed(int socket, uid_t user) const {
  if (options_.users.empty() && options_.groups.empty()) return true;
  if (std::find(options_.users.begin(), options_.users.end(), user) != options_.users.end()) {
    return true;
  }
  const std::vector<gid_t> groups = peerGroups(socket);
  return std::any_of(groups.begin(), groups.end(), [&](gid_t group) {
    return std::find(options_.groups.begin(), options_.groups.end(), group) !=
           options_.groups.end();
  });
}

bool RegistrationServer::hasNamesake(const Owner& owner) const {
  if (owner.process == 0) return true;
  return std::any_of(connections_.begin(), connections_.end(), [&](const auto& entry) {
    const auto& other = entry.second.owner;
    return other != nullptr && other->process == owner.process &&
           other->application == owner.application;
  });
}

void RegistrationServer::accept(Nanos now) {
  for (int i = 0; i < kAcceptedAtATime; ++i) {
    UniqueFd socket(accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (!socket.valid()) return;
    welcome(std::move(socket), now);
  }
}

void RegistrationServer::welcome(UniqueFd socket, Nanos now) {
  const int descriptor = socket.get();
  const auto peer = peerOf(descriptor);
  if (!peer) return;
  std::size_t& of_user = of_user_[peer->uid];
  if (connections_.size() >= kConnections || of_user >= kConnectionsPerUser) {
    ++counters_.connections_refused;
    return;
  }
  epoll_event event{EPOLLIN | EPOLLRDHUP, {.fd = descriptor}};
  if (epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, descriptor, &event) != 0) return;
  Connection& connection = connections_[descriptor];
  connection.socket = std::move(socket);
  connection.since = now;
  connection.peer.user = peer->uid;
  connection.peer.process = static_cast<std::uint32_t>(peer->pid);
  ++of_user;
  ++strangers_;
}

void RegistrationServer::close(Connection& connection) {
  for (const auto& [number, generation] : connection.pages) pool_.release(generation);
  if (connection.owner == nullptr) --strangers_;
  const auto user = of_user_.find(connection.peer.user);
  if (--user->second == 0) of_user_.erase(user);
}

void RegistrationServer::work(Nanos now) {
  std::array<epoll_event, 64> events;
  const int count = epoll_wait(epoll_.get(), events.data(), events.size(), 0);
  for (int i = 0; i < count; ++i) {
    const int descriptor = events[static_cast<std::size_t>(i)].data.fd;
    if (descriptor == listener_.get()) {
      accept(now);
      continue;
    }
    const auto found = connections_.find(descriptor);
    if (found == connections_.end() || serve(found->second, now)) continue;
    close(found->second);
    connections_.erase(found);
  }
  if (strangers_ == 0) return;
  for (auto entry = connections_.begin(); entry != connections_.end();) {
    Connection& connection = entry->second;
    const bool late = connection.owner == nullptr && now - connection.since >= kPatience;
    if (late) close(connection);
    entry = late ? connections_.erase(entry) : std::next(entry);
  }
}

Nanos RegistrationServer::nextWake() const {
  Nanos wake = std::numeric_limits<Nanos>::max();
  if (strangers_ == 0) return wake;
  for (const auto& [descriptor, connection] : connections_) {
    if (connection.owner == nullptr) wake = std::min(wake, connection.since + kPatience);
  }
  return wake;
}

bool RegistrationServer::serve(Connection& connection, Nanos now) {
  std::array<std::uint8_t, sizeof(Head) + kMaxMessageBytes> buffer;
  for (int i = 0; i < kMessagesAtATime; ++i) {
    auto datagram = receiveDatagram(connection.socket.get(), buffer);
    if (datagram.bytes < 0) return errno == EAGAIN || errno == EINTR;
    if (datagram.bytes == 0) return false;
    ++counters_.messages;
    Head head;
    const auto size = static_cast<std::size_t>(datagram.bytes);
    if (datagram.truncated || size < sizeof head) {
      refuse(connection, 0, {Refusal::kMalformed, "no message of this protocol"});
      return false;
    }
    std::memcpy(&head, buffer.data(), sizeof head);
    if (head.magic != kRegistrationMagic || head.length != size - sizeof head) {
      refuse(connection, 0, {Refusal::kMalformed, "no message of this protocol"});
      return false;
    }
    if (head.version != kRegistrationVersion) {
      refuse(connection, 0, {Refusal::kVersion, "this agent speaks version 1"});
      return false;
    }
    const Message body(buffer.data() + sizeof head, head.length);
    if (!take(connection, head, body, std::move(datagram.descriptor), now)) return false;
  }
  return true;
}

bool RegistrationServer::take(Connection& connection, const Head& head, Message body,
                              UniqueFd descriptor, Nanos now) {
  const auto type = static_cast<MessageType>(head.type);
  if ((connection.owner == nullptr) == (type == MessageType::kRegister)) {
    switch (type) {
      case MessageType::kRegister:
        return takeRegister(connection, body);
      case MessageType::kPage:
      case MessageType::kAdopt:
        return takePage(connection, head, body, std::move(descriptor));
      case MessageType::kDefine:
      case MessageType::kRemove:
        return takeMetric(connection, head, body, now);
      case MessageType::kRelease:
        return takeRelease(connection, head);
      default:
        break;
    }
  }
  refuse(connection, head.page, {Refusal::kMalformed, "no such message, or out of turn"});
  return false;
}

bool RegistrationServer::takeRegister(Connection& connection, Message body) {
  Bytes bytes(body);
  Owner owner = connection.peer;
  owner.application = bytes.string();
  auto labels = readLabels(bytes, bytes.number<std::uint8_t>());
  if (!labels || !bytes.empty() || owner.application.empty() ||
      owner.application.size() > kMaxApplicationBytes || !isText(owner.application)) {
    refuse(connection, 0, {Refusal::kMalformed, "the application's name or labels"});
    return false;
  }
  if (!allowed(connection.socket.get(), owner.user)) {
    refuse(connection, 0,
           {Refusal::kNotAllowed, fmt::format("user {} may not have pages here", owner.user)});
    return false;
  }
  owner.labels = std::move(*labels);
  // The agent's own pages are about its host, whatever the agent runs in.
  if (owner.process != options_.own) owner.pod = podOfPeer(options_.processes, owner.process);
  owner.namesake = hasNamesake(owner);
  connection.owner = pool_.addOwner(std::move(owner));
  --strangers_;
  ++counters_.registered;
  std::vector<std::uint8_t> answered;
  append(answered, connection.owner->id);
  append(answered, static_cast<std::uint32_t>(pool_.limits().pages_per_user));
  return answer(connection, MessageType::kRegistered, 0, answered);
}

bool RegistrationServer::takePage(Connection& connection, const Head& head, Message body,
                                  UniqueFd descriptor) {
  Bytes bytes(body);
  const auto flags = bytes.number<std::uint16_t>();
  if (!bytes.good() || !bytes.empty() || (flags & ~PINGLOOM_PAGE_GROUPED) != 0) {
    refuse(connection, head.page, {Refusal::kMalformed, "the page's flags"});
    return false;
  }
  if (head.page == 0 || connection.pages.contains(head.page)) {
    return refuse(connection, head.page, {Refusal::kPage, "the page's number is 0 or in use"});
  }
  const bool adopt = static_cast<MessageType>(head.type) == MessageType::kAdopt;
  auto granted = adopt ? pool_.adopt(connection.owner, flags, std::move(descriptor))
                       : pool_.grant(connection.owner, flags);
  if (!granted) return refuse(connection, head.page, granted.error());
  connection.pages.emplace(head.page, granted->generation);
  std::vector<std::uint8_t> answered;
  append(answered, granted->generation);
  return answer(connection, MessageType::kGranted, head.page, answered, granted->memfd.get());
}

bool RegistrationServer::takeMetric(Connection& connection, const Head& head, Message body,
                                    Nanos now) {
  const auto page = connection.pages.find(head.page);
  if (page == connection.pages.end()) {
    return refuse(connection, head.page, {Refusal::kPage, "no such page"});
  }
  const bool define = static_cast<MessageType>(head.type) == MessageType::kDefine;
  const auto taken =
      define ? pool_.define(page->second, body, now) : pool_.remove(page->second, body, now);
  if (!taken) return refuse(connection, head.page, taken.error());
  return answer(connection, define ? MessageType::kDefined : MessageType::kRemoved, head.page, {});
}

bool RegistrationServer::takeRelease(Connection& connection, const Head& head) {
  const auto page = connection.pages.find(head.page);
  if (page == connection.pages.end()) {
    // It is only counted. The application expects no answer and would take one for the answer to
    // another message.
    ++counters_.refused[static_cast<std::size_t>(Refusal::kPage)];
    return true;
  }
  pool_.release(page->second);
  connection.pages.erase(page);
  return true;
}

bool RegistrationServer::answer(Connection& connection, MessageType type, std::uint32_t page,
                                std::span<const std::uint8_t> body, int descriptor) {
  Head head;
  head.type = static_cast<std::uint16_t>(type);
  head.page = page;
  head.length = static_cast<std::uint32_t>(body.size());
  return sendDatagram(connection.socket.get(), head, body, descriptor);
}

bool RegistrationServer::refuse(Connection& connection, std::uint32_t page,
                                const Refused& refused) {
  ++counters_.refused[static_cast<std::size_t>(refused.reason)];
  std::vector<std::uint8_t> body;
  append(body, static_cast<std::uint16_t>(refused.reason));
  append(body, static_cast<std::uint16_t>(refused.text.size()));
  body.insert(body.end(), refused.text.begin(), refused.text.end());
  return answer(connection, MessageType::kRefused, page, body);
}

}  // namespace pingloom::pages
