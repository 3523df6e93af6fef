#include "probe/tcp/connect_socket.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>

namespace pingloom::probe::tcp {
namespace {

// <linux/in.h> and <netinet/in.h> cannot both be included.
constexpr int kBindAddressNoPort = 24;  // IP_BIND_ADDRESS_NO_PORT

bool setOption(int socket, int level, int option, int value) {
  return setsockopt(socket, level, option, &value, sizeof value) == 0;
}

// Translates an errno of socket(), connect() or SO_ERROR.
ConnectStage stageOf(int error_number) {
  switch (error_number) {
    case 0:
    case EINPROGRESS:
      return ConnectStage::kConnecting;
    case ECONNREFUSED:
      return ConnectStage::kRefused;
    case ECONNRESET:  // only connected sockets get these two: the peer hung up at once
    case EPIPE:
      return ConnectStage::kConnected;
    case ETIMEDOUT:
      return ConnectStage::kTimedOut;
    case EADDRNOTAVAIL:  // connect() found no free port
    case EADDRINUSE:
    case EAGAIN:
    case EMFILE:
    case ENFILE:
    case ENOBUFS:
    case ENOMEM:
      return ConnectStage::kExhausted;
    default:  // EHOSTUNREACH, ENETUNREACH, EACCES, EPERM and the like
      return ConnectStage::kUnreachable;
  }
}

void setOptions(int socket, bool is_v4, std::uint32_t traffic_class) {
  const linger reset{1, 0};
  setsockopt(socket, SOL_SOCKET, SO_LINGER, &reset, sizeof reset);
  // The kernel chooses the port at connect(); it has to be free only towards this target.
  setOption(socket, IPPROTO_IP, kBindAddressNoPort, 1);
  if (traffic_class != 0) {
    setOption(socket, is_v4 ? IPPROTO_IP : IPPROTO_IPV6, is_v4 ? IP_TOS : IPV6_TCLASS,
              static_cast<int>(traffic_class));
  }
}

// A connect from an address to itself may connect to itself if no socket listens there.
bool connectedToItself(int socket) {
  sockaddr_storage own{};
  sockaddr_storage peer{};
  socklen_t own_size = sizeof own;
  socklen_t peer_size = sizeof peer;
  if (getsockname(socket, reinterpret_cast<sockaddr*>(&own), &own_size) != 0) return false;
  if (getpeername(socket, reinterpret_cast<sockaddr*>(&peer), &peer_size) != 0) return false;
  return SocketAddress::fromSockaddr(reinterpret_cast<sockaddr*>(&own)) ==
         SocketAddress::fromSockaddr(reinterpret_cast<sockaddr*>(&peer));
}

}  // namespace

ConnectStart startConnect(const IpAddress& source, const SocketAddress& target,
                          std::uint32_t traffic_class) {
  const bool is_v4 = target.address.isV4();
  UniqueFd made(
      ::socket(is_v4 ? AF_INET : AF_INET6, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!made.valid()) return {stageOf(errno), {}};
  setOptions(made.get(), is_v4, traffic_class);
  sockaddr_storage address{};
  socklen_t size = source.toSockaddr(0, address);
  if (bind(made.get(), reinterpret_cast<sockaddr*>(&address), size) != 0) {
    // EADDRNOTAVAIL means that the host does not have the source address (any longer).
    return {ConnectStage::kUnreachable, {}};
  }
  size = target.address.toSockaddr(target.port, address);
  if (connect(made.get(), reinterpret_cast<sockaddr*>(&address), size) == 0) {
    return {ConnectStage::kConnecting, std::move(made)};
  }
  const ConnectStage stage = stageOf(errno);
  if (stage != ConnectStage::kConnecting) return {stage, {}};
  return {stage, std::move(made)};
}

ConnectState inspectConnect(int socket) {
  ConnectState state;
  int error_number = 0;
  socklen_t size = sizeof error_number;
  getsockopt(socket, SOL_SOCKET, SO_ERROR, &error_number, &size);
  state.stage = stageOf(error_number);
  if (state.stage == ConnectStage::kExhausted) state.stage = ConnectStage::kUnreachable;
  tcp_info info{};
  size = sizeof info;
  if (getsockopt(socket, IPPROTO_TCP, TCP_INFO, &info, &size) != 0) return state;
  const bool under_way = info.tcpi_state == TCP_SYN_SENT || info.tcpi_state == TCP_SYN_RECV;
  if (error_number == 0 && !under_way) {
    state.stage = connectedToItself(socket) ? ConnectStage::kRefused : ConnectStage::kConnected;
  }
  state.kernel_rtt = static_cast<Nanos>(info.tcpi_rtt) * kMicrosecond;
  state.since_reply = static_cast<Nanos>(info.tcpi_last_ack_recv) * kMillisecond;
  state.retransmitted = info.tcpi_total_retrans > 0;
  return state;
}

}  // namespace pingloom::probe::tcp
