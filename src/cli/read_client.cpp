#include "cli/read_client.h"

#include <poll.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>

#include "cli/source_socket.h"
#include "cli/text_table.h"
#include "common/poll_set.h"
#include "common/time.h"

namespace pingloom::cli {
namespace {

constexpr Nanos kExchangePatience = 5 * kSecond;

// Returns false when the time is over or the user stopped the command.
bool waitFor(int fd, short what, Nanos until, int stop) {
  enum class Awaited { kSocket, kStop, kCount };
  for (;;) {
    const Nanos left = until - monotonicNow();
    if (left <= 0) return false;
    PollSet<Awaited> wakes;
    wakes.watch(Awaited::kSocket, fd, what);
    wakes.watch(Awaited::kStop, stop);
    if (!wakes.wait(left) && errno != EINTR) return false;
    if (wakes.ready(Awaited::kStop)) return false;
    if (wakes.ready(Awaited::kSocket)) return true;
  }
}

tl::unexpected<Error> unreachable(const SocketAddress& server, int error_number) {
  if (error_number == ECONNREFUSED) {
    return makeError(server.text(), "nothing listens there; run 'pingloom read --serve' on it");
  }
  return makeErrnoError(server.text(), "no route to it", error_number);
}

Result<UniqueFd> connectTo(const IpAddress& source, const SocketAddress& server, Nanos until,
                           int stop) {
  auto made = socketFrom(source, SOCK_STREAM);
  if (!made) return made;
  sockaddr_storage address{};
  const socklen_t size = server.address.toSockaddr(server.port, address);
  if (connect(made->get(), reinterpret_cast<sockaddr*>(&address), size) == 0) return made;
  if (errno != EINPROGRESS) return unreachable(server, errno);
  if (!waitFor(made->get(), POLLOUT, until, stop)) {
    return makeError(server.text(), "no answer; is the host up, and does a firewall let TCP pass?");
  }
  int failed = 0;
  socklen_t length = sizeof failed;
  getsockopt(made->get(), SOL_SOCKET, SO_ERROR, &failed, &length);
  if (failed != 0) return unreachable(server, failed);
  return made;
}

Result<wire::ReadExchange> receive(int fd, const SocketAddress& server, Nanos until, int stop) {
  std::array<std::uint8_t, wire::kReadExchangeBytes> bytes{};
  for (std::size_t have = 0; have < bytes.size();) {
    if (!waitFor(fd, POLLIN, until, stop)) return makeError(server.text(), "no answer");
    const ssize_t got = recv(fd, bytes.data() + have, bytes.size() - have, 0);
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) continue;
    if (got <= 0) {
      return makeError(server.text(), "it closed the connection; is it a 'pingloom read --serve'?");
    }
    have += static_cast<std::size_t>(got);
  }
  wire::ReadExchange answer;
  switch (wire::parse(bytes, answer)) {
    case wire::ReadExchangeParse::kOk:
      if (answer.type == wire::ReadExchangeType::kAnswer) return answer;
      [[fallthrough]];
    case wire::ReadExchangeParse::kNone:
      return makeError(server.text(), "the service there is not a 'pingloom read --serve'");
    case wire::ReadExchangeParse::kVersion:
      break;
  }
  return makeError(server.text(), "it speaks another version; run the same pingloom on both");
}

Status refusalOf(const wire::ReadExchange& answer, const SocketAddress& server,
                 const std::string& region) {
  const std::string said = answer.text.empty() ? "" : ": " + printable(answer.text);
  switch (answer.status) {
    case wire::ReadExchangeStatus::kOk:
      return {};
    case wire::ReadExchangeStatus::kNoRegion:
      return makeError(server.text(), "it has no region '" + region + "'; it serves" + said);
    case wire::ReadExchangeStatus::kFull:
      return makeError(server.text(), "it has the maximum number of readers; try again later");
    case wire::ReadExchangeStatus::kDevice:
      return makeError(server.text(), "it cannot connect to this host" + said);
    case wire::ReadExchangeStatus::kVersion:
      break;
  }
  return makeError(server.text(), "it speaks another version; run the same pingloom on both");
}

}  // namespace

wire::ReadExchange exchangeOf(const rdma::RcAddress& address) {
  wire::ReadExchange made;
  made.gid = address.gid.bytes;
  made.lid = address.lid;
  made.qpn = address.qpn;
  made.psn = address.psn;
  made.mtu = address.mtu;
  made.reads = address.reads;
  return made;
}

rdma::RcAddress addressOf(const wire::ReadExchange& exchange) {
  rdma::RcAddress made;
  made.gid.bytes = exchange.gid;
  made.lid = exchange.lid;
  made.qpn = exchange.qpn;
  made.psn = exchange.psn;
  made.mtu = exchange.mtu;
  made.reads = exchange.reads;
  return made;
}

Result<RemoteRegion> askForRegion(const IpAddress& source, const SocketAddress& server,
                                  const std::string& region, const rdma::RcAddress& own, int stop) {
  const Nanos until = monotonicNow() + kExchangePatience;
  auto socket = connectTo(source, server, until, stop);
  if (!socket) return tl::unexpected(socket.error());
  wire::ReadExchange request = exchangeOf(own);
  request.text = region;
  const auto bytes = wire::bytesOf(request);
  // The send buffer of a new connection has room for the request.
  if (send(socket->get(), bytes.data(), bytes.size(), MSG_NOSIGNAL) !=
      static_cast<ssize_t>(bytes.size())) {
    return makeErrnoError(server.text(), "cannot ask for the region", errno);
  }
  const auto answer = receive(socket->get(), server, until, stop);
  if (!answer) return tl::unexpected(answer.error());
  if (auto refused = refusalOf(*answer, server, region); !refused) {
    return tl::unexpected(refused.error());
  }
  RemoteRegion made;
  made.peer = addressOf(*answer);
  made.address = answer->address;
  made.length = answer->length;
  made.pattern = answer->pattern;
  made.rkey = answer->rkey;
  made.device = printable(answer->text);
  made.control = std::move(*socket);
  return made;
}

}  // namespace pingloom::cli
