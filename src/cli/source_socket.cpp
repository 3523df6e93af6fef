#include "cli/source_socket.h"

#include <sys/socket.h>

#include <cerrno>

namespace pingloom::cli {

Result<UniqueFd> socketFrom(const IpAddress& source, int type) {
  UniqueFd made(
      ::socket(source.isV4() ? AF_INET : AF_INET6, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  sockaddr_storage address{};
  const socklen_t size = source.toSockaddr(0, address);
  if (!made.valid() || bind(made.get(), reinterpret_cast<sockaddr*>(&address), size) != 0) {
    return makeErrnoError(source.text(), "cannot send from this address", errno);
  }
  return made;
}

}  // namespace pingloom::cli
