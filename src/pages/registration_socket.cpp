#include "pages/registration_socket.h"

#include <fcntl.h>
#include <sys/uio.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

namespace pingloom::pages {
namespace {

constexpr std::size_t kMaxDescriptors = 253;  // the kernel's limit for one message

}  // namespace

Datagram receiveDatagram(int socket, std::span<std::uint8_t> buffer) {
  Datagram made;
  iovec piece{buffer.data(), buffer.size()};
  // There is room for every descriptor that can arrive; otherwise the kernel would close some and
  // set MSG_CTRUNC.
  alignas(cmsghdr) std::array<char, CMSG_SPACE(kMaxDescriptors * sizeof(int))> control;
  msghdr message{};
  message.msg_iov = &piece;
  message.msg_iovlen = 1;
  message.msg_control = control.data();
  message.msg_controllen = control.size();
  made.bytes = recvmsg(socket, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
  if (made.bytes < 0) return made;
  made.truncated = (message.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) != 0;
  for (cmsghdr* one = CMSG_FIRSTHDR(&message); one != nullptr; one = CMSG_NXTHDR(&message, one)) {
    if (one->cmsg_level != SOL_SOCKET || one->cmsg_type != SCM_RIGHTS) continue;
    const std::size_t count = (one->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (std::size_t i = 0; i < count; ++i) {
      int descriptor = -1;
      std::memcpy(&descriptor, CMSG_DATA(one) + i * sizeof descriptor, sizeof descriptor);
      UniqueFd taken(descriptor);
      if (!made.descriptor.valid()) made.descriptor = std::move(taken);
    }
  }
  return made;
}

bool sendDatagram(int socket, const Head& head, std::span<const std::uint8_t> body,
                  int descriptor) {
  Head copy = head;
  std::array<iovec, 2> pieces = {iovec{&copy, sizeof copy},
                                 {const_cast<std::uint8_t*>(body.data()), body.size()}};
  msghdr message{};
  message.msg_iov = pieces.data();
  message.msg_iovlen = pieces.size();
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> control{};
  if (descriptor >= 0) {
    message.msg_control = control.data();
    message.msg_controllen = control.size();
    cmsghdr* one = CMSG_FIRSTHDR(&message);
    one->cmsg_level = SOL_SOCKET;
    one->cmsg_type = SCM_RIGHTS;
    one->cmsg_len = CMSG_LEN(sizeof descriptor);
    std::memcpy(CMSG_DATA(one), &descriptor, sizeof descriptor);
  }
  return sendmsg(socket, &message, MSG_DONTWAIT | MSG_NOSIGNAL) ==
         static_cast<ssize_t>(sizeof head + body.size());
}

std::optional<ucred> peerOf(int socket) {
  ucred peer{};
  socklen_t size = sizeof peer;
  if (getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0) return std::nullopt;
  return peer;
}

Pod podOfPeer(const std::filesystem::path& processes, std::uint32_t process) {
  constexpr std::size_t kMaxCgroups = 16384;  // a line of version 1 for each of a dozen controllers
  if (process == 0) return {};
  const std::string path = (processes / std::to_string(process) / "cgroup").string();
  const UniqueFd file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.valid()) return {};
  std::string text(kMaxCgroups, '\0');
  const ssize_t got = read(file.get(), text.data(), text.size());
  text.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
  return podOfProcess(text).value_or(Pod{});
}

std::vector<gid_t> peerGroups(int socket) {
  std::vector<gid_t> groups(64);
  socklen_t size = static_cast<socklen_t>(groups.size() * sizeof(gid_t));
  if (getsockopt(socket, SOL_SOCKET, SO_PEERGROUPS, groups.data(), &size) != 0) {
    groups.resize(errno == ERANGE ? size / sizeof(gid_t) : 0);
    if (getsockopt(socket, SOL_SOCKET, SO_PEERGROUPS, groups.data(), &size) != 0) size = 0;
  }
  groups.resize(size / sizeof(gid_t));
  if (const auto peer = peerOf(socket)) groups.push_back(peer->gid);
  return groups;
}

}  // namespace pingloom::pages
