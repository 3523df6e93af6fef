// Sends and receives datagrams with descriptors over a Unix socket, and identifies the peer.
#pragma once

#include <sys/socket.h>
#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <vector>

#include "common/fd.h"
#include "common/pod.h"
#include "pages/registration.h"

namespace pingloom::pages {

struct Datagram {
  ssize_t bytes = -1;  // 0 if the peer has closed the connection; < 0 on an error in errno
  bool truncated = false;
  UniqueFd descriptor;  // the first descriptor received; any others are closed
};
Datagram receiveDatagram(int socket, std::span<std::uint8_t> buffer);

// Never blocks. Returns false if the peer's buffer is full.
bool sendDatagram(int socket, const Head& head, std::span<const std::uint8_t> body, int descriptor);

std::optional<ucred> peerOf(int socket);
// Returns the pod that the process is in; it has no uid if the process is in none or cannot be
// seen. `processes` is /proc. A process that has ended and passed its connection on may get the pod
// of one that has its pid now.
Pod podOfPeer(const std::filesystem::path& processes, std::uint32_t process);
std::vector<gid_t> peerGroups(int socket);  // the peer's primary and supplementary groups

}  // namespace pingloom::pages
