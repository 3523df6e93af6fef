#include "cli/endpoint_lookup.h"

#include <poll.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>

#include "cli/source_socket.h"
#include "common/random.h"
#include "common/time.h"
#include "wire/endpoint_query.h"

namespace pingloom::cli {
namespace {

constexpr int kAttempts = 3;
constexpr Nanos kAttemptPatience = 500 * kMillisecond;

Result<UniqueFd> connectTo(const IpAddress& source, const SocketAddress& target) {
  auto made = socketFrom(source, SOCK_DGRAM);
  if (!made) return made;
  sockaddr_storage address{};
  const socklen_t size = target.address.toSockaddr(target.port, address);
  if (connect(made->get(), reinterpret_cast<sockaddr*>(&address), size) != 0) {
    return makeErrnoError(target.text(), "no route to it", errno);
  }
  return made;
}

// Waits a limited time for the answer to this nonce. ECONNREFUSED means that nothing listens there.
Result<wire::EndpointQuery> receive(int fd, std::uint64_t nonce, const SocketAddress& target) {
  const Nanos until = monotonicNow() + kAttemptPatience;
  while (monotonicNow() < until) {
    pollfd ready{fd, POLLIN, 0};
    ::poll(&ready, 1, static_cast<int>((until - monotonicNow()) / kMillisecond) + 1);
    std::array<std::uint8_t, 2 * wire::kEndpointQueryBytes> bytes{};
    const ssize_t got = recv(fd, bytes.data(), bytes.size(), 0);
    if (got < 0 && errno == ECONNREFUSED) {
      return makeError(
          target.text(),
          "nothing listens there; run an agent or 'pingloom ping rdma --listen' on it");
    }
    wire::EndpointQuery answer;
    const bool ours = got > 0 &&
                      wire::parse(std::span(bytes).first(static_cast<std::size_t>(got)), answer) &&
                      answer.type == wire::EndpointQueryType::kAnswer && answer.nonce == nonce;
    if (ours) return answer;
  }
  return makeError(target.text(),
                   "no answer; is there an agent, or a 'pingloom ping rdma --listen'?");
}

plan::Endpoint endpointOf(const wire::EndpointQuery& answer, const IpAddress& address) {
  plan::Endpoint made;
  made.address = address;
  made.gid = answer.gid;
  made.lid = answer.lid;
  made.qpn = answer.qpn;
  made.q_key = answer.q_key;
  made.device = answer.device;
  return made;
}

}  // namespace

Result<plan::Endpoint> lookUpEndpoint(const IpAddress& source, const SocketAddress& target) {
  auto socket = connectTo(source, target);
  if (!socket) return tl::unexpected(socket.error());
  Result<wire::EndpointQuery> answer = makeError(target.text(), "not asked");
  for (int attempt = 0; attempt < kAttempts && !answer; ++attempt) {
    wire::EndpointQuery query;
    query.nonce = randomU64();
    const auto bytes = wire::bytesOf(query);
    // receive() notices a failure: nothing arrives, or the socket has an error.
    if (send(socket->get(), bytes.data(), bytes.size(), 0) < 0 && errno != ECONNREFUSED) {
      return makeErrnoError(target.text(), "cannot ask for the endpoint", errno);
    }
    answer = receive(socket->get(), query.nonce, target);
  }
  if (!answer) return tl::unexpected(answer.error());
  if (answer->qpn == 0) {
    return makeError(target.address.text(),
                     "has no RDMA endpoint; its agent makes one where the plan's rdma probes name "
                     "the address and a device has it ('pingloom devices' there)");
  }
  return endpointOf(*answer, target.address);
}

}  // namespace pingloom::cli
