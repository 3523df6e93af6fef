// Datagrams over a unix socket, with a descriptor beside them, and who stands at its other end.
#pragma once

#include <sys/socket.h>
#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "common/fd.h"
#include "pages/registration.h"

namespace pingloom::pages {

struct Datagram {
  ssize_t bytes = -1;  // 0: the other side has hung up; < 0: see errno
  bool truncated = false;
  UniqueFd descriptor;  // the first that came; any others are closed
};
Datagram receiveDatagram(int socket, std::span<std::uint8_t> buffer);

// Never waits. False: the other side does not take it.
bool sendDatagram(int socket, const Head& head, std::span<const std::uint8_t> body, int descriptor);

std::optional<ucred> peerOf(int socket);
std::vector<gid_t> peerGroups(int socket);  // its own and the supplementary ones

}  // namespace pingloom::pages
