#include "net/udp_group.h"

#include <linux/filter.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <string>
#include <utility>

#include "net/socket_options.h"

namespace pingloom::net {
namespace {

// The program sees a datagram from its payload on, and returns the number of the socket, which is
// its position in the order of bind().
bool attachChooser(int fd, const PayloadField& field, std::uint32_t count) {
  std::array<sock_filter, 4> program = {{
      {BPF_LD | BPF_W | BPF_ABS, 0, 0, field.offset},
      {BPF_ALU | BPF_AND | BPF_K, 0, 0, field.mask},
      {BPF_ALU | BPF_MOD | BPF_K, 0, 0, count},
      {BPF_RET | BPF_A, 0, 0, 0},
  }};
  const sock_fprog chooser = {program.size(), program.data()};
  return setsockopt(fd, SOL_SOCKET, SO_ATTACH_REUSEPORT_CBPF, &chooser, sizeof chooser) == 0;
}

}  // namespace

Result<std::vector<UdpSocket>> bindGroup(const IpAddress& address, std::uint16_t port,
                                         std::uint32_t count, const PayloadField& field,
                                         const UdpSocketOptions& options) {
  const std::string entity = "udp " + SocketAddress{address, port}.text();
  std::vector<UdpSocket> made;
  UdpSocketOptions own = options;
  for (std::uint32_t i = 0; i < count; ++i) {
    // The first socket binds without SO_REUSEPORT, so that it fails if any socket has the port. It
    // admits the others afterwards.
    own.joins = i > 0;
    auto bound = UdpSocket::bind(address, port, own);
    if (!bound) return tl::unexpected(bound.error());
    if (count > 1 && i == 0 && !setOption(bound->descriptor(), SOL_SOCKET, SO_REUSEPORT, 1)) {
      return makeErrnoError(entity, "cannot share the port", errno);
    }
    made.push_back(std::move(*bound));
  }
  if (count > 1 && !attachChooser(made.front().descriptor(), field, count)) {
    return makeErrnoError(entity, "cannot choose among the port's sockets", errno);
  }
  return made;
}

}  // namespace pingloom::net
