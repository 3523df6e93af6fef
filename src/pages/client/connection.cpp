#include "pages/client/connection.h"

#include <sys/socket.h>
#include <sys/un.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

namespace pingloom::pages::client {

namespace {

constexpr std::size_t kMaxShown = 200;  // bytes of an agent's message that are shown

std::string inWords(int error_number) {
  std::array<char, 128> text{};
  return strerror_r(error_number, text.data(), text.size());
}

template <typename T>
T numberAt(const std::uint8_t* at) {
  T value{};
  std::memcpy(&value, at, sizeof value);
  return value;
}

std::string shown(const std::uint8_t* text, std::size_t bytes) {
  std::string copy(reinterpret_cast<const char*>(text), std::min(bytes, kMaxShown));
  for (char& c : copy) {
    if (c < 0x20 || c == 0x7F) c = '?';
  }
  return copy;
}

bool parseRefusal(const std::uint8_t* body, std::size_t bytes, Answer* answer) {
  if (bytes < 4 || numberAt<std::uint16_t>(body + 2) != bytes - 4) return false;
  answer->refusal = static_cast<Refusal>(numberAt<std::uint16_t>(body));
  answer->why = shown(body + 4, bytes - 4);
  return true;
}

bool parse(const std::uint8_t* message, std::size_t bytes, Answer* answer) {
  Head head;
  if (bytes < sizeof head) return false;
  std::memcpy(&head, message, sizeof head);
  const std::uint8_t* body = message + sizeof head;
  if (head.magic != kRegistrationMagic || head.version != kRegistrationVersion ||
      head.length != bytes - sizeof head) {
    return false;
  }
  answer->type = static_cast<MessageType>(head.type);
  answer->page = head.page;
  switch (answer->type) {
    case MessageType::kRegistered:
      if (head.length != 12) return false;
      answer->owner = numberAt<std::uint64_t>(body);
      return true;
    case MessageType::kGranted:
      if (head.length != 8) return false;
      answer->generation = numberAt<std::uint64_t>(body);
      return true;
    case MessageType::kDefined:
    case MessageType::kRemoved:
      return head.length == 0;
    case MessageType::kRefused:
      return parseRefusal(body, head.length, answer);
    default:
      return false;
  }
}

// Takes the received descriptors; returns false if there is more than one.
bool takeDescriptors(msghdr* header, UniqueFd* fd) {
  bool one = true;
  for (cmsghdr* part = CMSG_FIRSTHDR(header); part != nullptr; part = CMSG_NXTHDR(header, part)) {
    if (part->cmsg_level != SOL_SOCKET || part->cmsg_type != SCM_RIGHTS) continue;
    const std::size_t count = (part->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (std::size_t i = 0; i < count; ++i) {
      UniqueFd next(numberAt<int>(CMSG_DATA(part) + i * sizeof(int)));
      one = one && !fd->valid();
      *fd = std::move(next);
    }
  }
  return one;
}

}  // namespace

std::string Connection::open(const std::string& path) {
  sockaddr_un address{};
  if (path.empty() || path.size() >= sizeof address.sun_path) {
    return "a socket's path has 1 to 107 bytes: '" + path.substr(0, kMaxShown) + "'";
  }
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, path.data(), path.size());
  UniqueFd fd(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!fd.valid() ||
      connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    return path.substr(0, kMaxShown) + ": " + inWords(errno);
  }
  fd_ = std::move(fd);
  return {};
}

Connection::Sent Connection::send(MessageType type, std::uint32_t page,
                                  const std::vector<std::uint8_t>& body, int passed) {
  Head head;
  head.type = static_cast<std::uint16_t>(type);
  head.page = page;
  head.length = static_cast<std::uint32_t>(body.size());
  std::array<iovec, 2> parts{
      {{&head, sizeof head}, {const_cast<std::uint8_t*>(body.data()), body.size()}}};
  msghdr message{};
  message.msg_iov = parts.data();
  message.msg_iovlen = parts.size();
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> control{};
  if (passed >= 0) {
    message.msg_control = control.data();
    message.msg_controllen = control.size();
    cmsghdr* part = CMSG_FIRSTHDR(&message);
    part->cmsg_level = SOL_SOCKET;
    part->cmsg_type = SCM_RIGHTS;
    part->cmsg_len = CMSG_LEN(sizeof(int));
    std::memcpy(CMSG_DATA(part), &passed, sizeof passed);
  }
  if (sendmsg(fd_.get(), &message, MSG_NOSIGNAL | MSG_DONTWAIT) >= 0) return Sent::kYes;
  // ETOOMANYREFS means that the agent has not yet received the descriptors in flight.
  const bool later = errno == EAGAIN || errno == EINTR || errno == ENOBUFS || errno == ENOMEM ||
                     errno == ETOOMANYREFS;
  return later ? Sent::kLater : Sent::kNo;
}

Received Connection::receive(Answer* answer) {
  *answer = Answer{};
  std::array<std::uint8_t, kMaxMessageBytes> bytes;
  iovec part{bytes.data(), bytes.size()};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(4 * sizeof(int))> control{};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control.data();
  message.msg_controllen = control.size();
  const ssize_t got = recvmsg(fd_.get(), &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) return Received::kNothing;
  if (got <= 0) return Received::kEnd;
  const bool one = takeDescriptors(&message, &answer->fd);
  if (!one || (message.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) != 0) return Received::kBroken;
  return parse(bytes.data(), static_cast<std::size_t>(got), answer) ? Received::kAnswer
                                                                    : Received::kBroken;
}

}  // namespace pingloom::pages::client
