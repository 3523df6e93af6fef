#include "probe/tcp/connect_socket.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>
#include <optional>

namespace pingloom::probe::tcp {
namespace {

// <linux/in.h> and <netinet/in.h> cannot both be included.
constexpr int kBindAddressNoPort = 24;  // IP_BIND_ADDRESS_NO_PORT
constexpr int kAutoFlowLabel = 70;      // IPV6_AUTOFLOWLABEL

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

void setOptions(int socket, bool is_v4, const ConnectOptions& options) {
  const linger reset{1, 0};
  setsockopt(socket, SOL_SOCKET, SO_LINGER, &reset, sizeof reset);
  // The kernel chooses the port at connect(); it has to be free only towards this target. So has
  // one that is given, as connects to other targets may have it.
  setOption(socket, IPPROTO_IP, kBindAddressNoPort, 1);
  setOption(socket, SOL_SOCKET, SO_REUSEADDR, 1);
  // Otherwise each SYN has another flow label, and switches may choose its path by that.
  if (!is_v4) setOption(socket, IPPROTO_IPV6, kAutoFlowLabel, 0);
  const int level = is_v4 ? IPPROTO_IP : IPPROTO_IPV6;
  if (options.traffic_class != 0) {
    setOption(socket, level, is_v4 ? IP_TOS : IPV6_TCLASS, static_cast<int>(options.traffic_class));
  }
  if (options.hop_limit != 0) {
    setOption(socket, level, is_v4 ? IP_TTL : IPV6_UNICAST_HOPS, options.hop_limit);
    setOption(socket, level, is_v4 ? IP_RECVERR : IPV6_RECVERR, 1);
  }
}

std::optional<SocketAddress> ownAddress(int socket) {
  sockaddr_storage own{};
  socklen_t size = sizeof own;
  if (getsockname(socket, reinterpret_cast<sockaddr*>(&own), &size) != 0) return std::nullopt;
  return SocketAddress::fromSockaddr(reinterpret_cast<sockaddr*>(&own));
}

// A connect from an address to itself may connect to itself if no socket listens there.
bool connectedToItself(int socket) {
  sockaddr_storage peer{};
  socklen_t size = sizeof peer;
  if (getpeername(socket, reinterpret_cast<sockaddr*>(&peer), &size) != 0) return false;
  return ownAddress(socket) == SocketAddress::fromSockaddr(reinterpret_cast<sockaddr*>(&peer));
}

}  // namespace

ConnectStart startConnect(const IpAddress& source, const SocketAddress& target,
                          const ConnectOptions& options) {
  const bool is_v4 = target.address.isV4();
  UniqueFd made(
      ::socket(is_v4 ? AF_INET : AF_INET6, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!made.valid()) return {stageOf(errno), {}};
  setOptions(made.get(), is_v4, options);
  sockaddr_storage address{};
  socklen_t size = source.toSockaddr(options.source_port, address);
  if (bind(made.get(), reinterpret_cast<sockaddr*>(&address), size) != 0) {
    // EADDRNOTAVAIL means that the host does not have the source address (any longer), and
    // EADDRINUSE that another program has the source port.
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

std::uint16_t sourcePortOf(int socket) {
  const auto own = ownAddress(socket);
  return own ? own->port : 0;
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
