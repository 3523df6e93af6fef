#include "rdma/soft/transmitter.h"

#include <gtest/gtest.h>
#include <netinet/ip.h>
#include <sys/epoll.h>

#include "common/fd.h"
#include "soft_host.h"

namespace pingloom::rdma::soft::transmitter_test {
namespace {

// Sends two packets of one size to the given queue pairs of one address, together. Returns how many
// packets each datagram that arrives there has.
std::vector<std::size_t> packetsOfDatagrams(std::uint32_t first_qpn, std::uint32_t second_qpn) {
  net::UdpSocketOptions receives, sends;
  receives.coalesced = true;
  sends.unfragmented = true;
  auto peer = net::UdpSocket::bind(freshLoopback(), kRoceUdpPort, receives);
  auto main = net::UdpSocket::bind(freshLoopback(), kRoceUdpPort, sends);
  const UniqueFd epoll(epoll_create1(EPOLL_CLOEXEC));
  if (!peer || !main || !epoll.valid()) return {};
  SinkTable sinks;
  DropCounters drops;
  Transmitter transmitter(std::move(*main), {}, epoll.get(), sinks, drops);
  const std::vector<std::uint8_t> payload = bytesUpTo(64);
  Packet packet;
  packet.bth.opcode = Opcode::kRcReadResponseMiddle;
  packet.payload = payload;
  for (const std::uint32_t qpn : {first_qpn, second_qpn}) {
    packet.bth.destination_qpn = qpn;
    if (!transmitter.add({peer->address(), 0, 0}, packet, {})) return {};
  }
  transmitter.flush(monotonicNow());
  net::RxBatch batch(IP_MAXPACKET);
  std::vector<std::size_t> counts;
  const int got = batch.receive(peer->descriptor(), 0);
  for (std::size_t i = 0; got > 0 && i < static_cast<std::size_t>(got); ++i) {
    counts.push_back(batch.length(i) / wireBytes(packet));
  }
  return counts;
}

TEST(Transmitter, JoinsPacketsOfOneQueuePairOnly) {
  EXPECT_EQ(packetsOfDatagrams(4, 4), std::vector<std::size_t>{2});
  EXPECT_EQ(packetsOfDatagrams(4, 5), (std::vector<std::size_t>{1, 1}));
}

}  // namespace
}  // namespace pingloom::rdma::soft::transmitter_test
