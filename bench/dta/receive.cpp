#include "receive.h"

#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>

#include "common/fd.h"
#include "net/udp_socket.h"
#include "shared/clocks.h"

namespace pingloom::bench {
namespace {

constexpr std::size_t kGroup = 512;  // datagrams; far fewer bytes than the socket's buffer
constexpr std::size_t kMaxCoalesced = 65'535;

}  // namespace

Result<double> receive(const Load& load,
                       const std::function<void(std::span<const std::uint8_t>)>& take) {
  net::UdpSocketOptions options;
  options.coalesced = true;
  auto socket = net::UdpSocket::bind(IpAddress::fromV4(0x7f2d0003), 0, options);
  if (!socket) return tl::unexpected(socket.error());
  sockaddr_storage own{};
  socklen_t length = sizeof own;
  ::getsockname(socket->descriptor(), reinterpret_cast<sockaddr*>(&own), &length);
  const UniqueFd sender(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  if (::connect(sender.get(), reinterpret_cast<sockaddr*>(&own), length) != 0) {
    return makeErrnoError("receive", "cannot connect", errno);
  }
  net::RxBatch batch(kMaxCoalesced);
  Nanos cpu = 0;
  std::size_t received = 0;
  for (std::size_t next = 0; next < load.datagrams();) {
    const std::size_t end = std::min(next + kGroup, load.datagrams());
    for (; next < end; ++next) {
      const auto datagram = load.datagram(next);
      ::send(sender.get(), datagram.data(), datagram.size(), 0);
    }
    const Nanos before = threadCpu();
    for (int got = 0; (got = batch.receive(socket->descriptor(), 0)) > 0;) {
      for (std::size_t i = 0; i < static_cast<std::size_t>(got); ++i) {
        auto left = batch.head(i);
        const std::size_t segment = batch.ancillary(i).segment_bytes;
        const std::size_t each = segment != 0 ? segment : left.size();
        for (; !left.empty(); ++received) {
          const auto datagram = left.first(std::min(each, left.size()));
          take(datagram);
          left = left.subspan(datagram.size());
        }
      }
    }
    cpu += threadCpu() - before;
  }
  if (received != load.datagrams()) return makeError("receive", "datagrams were lost");
  return static_cast<double>(cpu) / static_cast<double>(received);
}

}  // namespace pingloom::bench
