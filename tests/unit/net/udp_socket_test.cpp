#include "net/udp_socket.h"

#include <gtest/gtest.h>
#include <netinet/ip.h>
#include <netinet/ip_icmp.h>
#include <netinet/udp.h>
#include <poll.h>
#include <sys/socket.h>

#include <array>
#include <cstring>
#include <vector>

#include "common/fd.h"
#include "common/random.h"
#include "net/outbox.h"
#include "net/raw_udp_socket.h"
#include "unit/net/arrival_stamps.h"

namespace pingloom::net::udp_socket_test {
namespace {

constexpr std::uint16_t kPort = 20998;

IpAddress freshLoopback() {
  return IpAddress::fromV4(0x7F010000 + static_cast<std::uint32_t>(randomU64() % 0xFDFFFF));
}

ssize_t send(const UdpSocket& from, const UdpSocket& to, std::size_t bytes) {
  const std::vector<std::uint8_t> payload(bytes, 7);
  sockaddr_storage address{};
  const socklen_t length = to.address().toSockaddr(kPort, address);
  return sendto(from.descriptor(), payload.data(), bytes, 0,
                reinterpret_cast<const sockaddr*>(&address), length);
}

void put(Outbox& outbox, const UdpSocket& receiver, const SendOptions& options, std::size_t bytes,
         TxTag tag) {
  sockaddr_storage storage{};
  const socklen_t length = receiver.address().toSockaddr(kPort, storage);
  sockaddr_in6 to;
  std::memcpy(&to, &storage, sizeof to);
  outbox.add(to, length, makeControl(options, false), bytes, tag);
}

// On a busy machine the kernel delivers a datagram over loopback a moment after it was sent.
int receiveSoon(RxBatch& batch, int fd) {
  pollfd readable = {fd, POLLIN, 0};
  ::poll(&readable, 1, 10000);
  return batch.receive(fd, 0);
}

TEST(UdpSocket, SaysThatAPortIsTaken) {
  const auto first = UdpSocket::bind(freshLoopback(), kPort);
  ASSERT_TRUE(first);
  UdpSocketOptions options;
  const auto plain = UdpSocket::bind(first->address(), kPort, options);
  ASSERT_FALSE(plain);
  EXPECT_NE(plain.error().reason.find("bind: Address already in use"), std::string::npos);
  options.port_taken = "somebody is there";
  const auto told = UdpSocket::bind(first->address(), kPort, options);
  ASSERT_FALSE(told);
  EXPECT_EQ(told.error().reason, "somebody is there");
}

TEST(UdpSocket, HearsNothingWhenDeafButItsOwnDepartures) {
  UdpSocketOptions options;
  options.deaf = true;
  auto deaf = UdpSocket::bind(freshLoopback(), kPort, options);
  const auto other = UdpSocket::bind(freshLoopback(), kPort);
  ASSERT_TRUE(deaf && other);
  RxBatch batch;
  ASSERT_EQ(send(*other, *deaf, 10), 10);
  EXPECT_EQ(batch.receive(deaf->descriptor(), 0), 0);
  Outbox outbox(10);
  SendOptions stamped;
  stamped.timestamp = true;
  put(outbox, *other, stamped, 10, {1, 42});
  outbox.flush(*deaf, batch, [](TxTag, int) {});
  EXPECT_EQ(receiveSoon(batch, other->descriptor()), 1);
  deaf->readErrors(batch);
  ASSERT_EQ(deaf->departures().size(), 1U);
  EXPECT_EQ(deaf->departures()[0].tag.id, 42U);
}

// Datagrams that were sent in one piece are received in one piece if the receiver requests it.
TEST(UdpSocket, ReceivesSeveralDatagramsAsOne) {
  awaitArrivalStamps();
  for (const bool coalesced : {false, true}) {
    UdpSocketOptions options;
    options.coalesced = coalesced;
    auto sender = UdpSocket::bind(freshLoopback(), kPort);
    const auto receiver = UdpSocket::bind(freshLoopback(), kPort, options);
    ASSERT_TRUE(sender && receiver);
    Outbox outbox(400);
    RxBatch batch(400);
    SendOptions segments;
    segments.segment_bytes = 100;
    put(outbox, *receiver, segments, 350, {});
    outbox.flush(*sender, batch, [](TxTag, int) { ADD_FAILURE(); });
    ASSERT_EQ(receiveSoon(batch, receiver->descriptor()), coalesced ? 1 : 4);
    EXPECT_EQ(batch.length(0), coalesced ? 350U : 100U);
    EXPECT_EQ(batch.ancillary(0).segment_bytes, coalesced ? 100U : 0U);
    EXPECT_NE(batch.ancillary(0).kernel_utc, 0);
  }
}

// The invariant CRC of a RoCE packet relies on this.
TEST(UdpSocket, SendsIdZeroAndDfWhenUnfragmented) {
  awaitArrivalStamps();
  UdpSocketOptions options;
  options.unfragmented = true;
  const auto sender = UdpSocket::bind(freshLoopback(), kPort, options);
  const auto receiver = UdpSocket::bind(freshLoopback(), kPort);
  ASSERT_TRUE(sender && receiver);
  const auto raw = RawUdpSocket::bind(receiver->address(), kPort);
  if (!raw) GTEST_SKIP() << raw.error().text();
  RxBatch batch(2000);
  for (int i = 0; i < 3; ++i) {
    ASSERT_EQ(send(*sender, *receiver, 100), 100);
    ASSERT_EQ(receiveSoon(batch, raw->descriptor()), 1);
    iphdr ip;
    ASSERT_EQ(batch.length(0), sizeof ip + 8 + 100);
    std::memcpy(&ip, batch.head(0).data(), sizeof ip);
    EXPECT_EQ(ip.id, 0);
    EXPECT_EQ(ntohs(ip.frag_off), IP_DF);
    EXPECT_NE(batch.ancillary(0).kernel_utc, 0);
  }
}

TEST(UdpSocket, SendsWithTheHopLimitAskedFor) {
  auto sender = UdpSocket::bind(freshLoopback(), kPort);
  const auto receiver = UdpSocket::bind(freshLoopback(), kPort);
  ASSERT_TRUE(sender && receiver);
  const int on = 1;
  ASSERT_EQ(setsockopt(receiver->descriptor(), IPPROTO_IP, IP_RECVTTL, &on, sizeof on), 0);
  Outbox outbox(100);
  RxBatch batch;
  for (const int wanted : {9, 0}) {
    put(outbox, *receiver, {.hop_limit = static_cast<std::uint8_t>(wanted)}, 100, {});
    outbox.flush(*sender, batch, [](TxTag, int) {});
    outbox.clear();
    std::array<std::uint8_t, 100> bytes;
    alignas(cmsghdr) std::array<std::uint8_t, 256> control;
    iovec data = {bytes.data(), bytes.size()};
    msghdr message{};
    message.msg_iov = &data;
    message.msg_iovlen = 1;
    message.msg_control = control.data();
    message.msg_controllen = control.size();
    ASSERT_EQ(recvmsg(receiver->descriptor(), &message, 0), 100);
    int ttl = -1;
    for (cmsghdr* at = CMSG_FIRSTHDR(&message); at != nullptr; at = CMSG_NXTHDR(&message, at)) {
      if (at->cmsg_level == IPPROTO_IP && at->cmsg_type == IP_TTL) {
        std::memcpy(&ttl, CMSG_DATA(at), sizeof ttl);
      }
    }
    if (wanted != 0) {
      EXPECT_EQ(ttl, wanted);
    } else {
      EXPECT_GT(ttl, 9) << "the system's default";
    }
  }
}

std::uint16_t checksumOf(const std::vector<std::uint8_t>& bytes) {
  std::uint32_t sum = 0;
  for (std::size_t i = 0; i < bytes.size(); ++i) sum += i % 2 == 0 ? bytes[i] << 8 : bytes[i];
  while (sum > 0xFFFF) sum = (sum & 0xFFFF) + (sum >> 16);
  return htons(static_cast<std::uint16_t>(~sum));
}

// What a router sends when the hop limit of a datagram from `from` to `to` has run out.
std::vector<std::uint8_t> timeExceeded(const IpAddress& from, const IpAddress& to,
                                       const std::vector<std::uint8_t>& payload) {
  icmphdr icmp{};
  icmp.type = ICMP_TIME_EXCEEDED;
  iphdr ip{};
  ip.version = 4;
  ip.ihl = 5;
  ip.ttl = 1;
  ip.protocol = IPPROTO_UDP;
  ip.tot_len = htons(static_cast<std::uint16_t>(sizeof ip + sizeof(udphdr) + payload.size()));
  std::memcpy(&ip.saddr, from.bytes().data(), 4);
  std::memcpy(&ip.daddr, to.bytes().data(), 4);
  udphdr udp{};
  udp.source = htons(kPort);
  udp.dest = htons(kPort);
  udp.len = htons(static_cast<std::uint16_t>(sizeof udp + payload.size()));
  std::vector<std::uint8_t> bytes(sizeof icmp + sizeof ip + sizeof udp);
  std::memcpy(bytes.data(), &icmp, sizeof icmp);
  std::memcpy(bytes.data() + sizeof icmp, &ip, sizeof ip);
  std::memcpy(bytes.data() + sizeof icmp + sizeof ip, &udp, sizeof udp);
  bytes.insert(bytes.end(), payload.begin(), payload.end());
  const std::uint16_t sum = checksumOf(bytes);
  std::memcpy(bytes.data() + offsetof(icmphdr, checksum), &sum, sizeof sum);
  return bytes;
}

TEST(UdpSocket, TellsWhichRouterDroppedADatagram) {
  auto socket = UdpSocket::bind(freshLoopback(), kPort);
  ASSERT_TRUE(socket);
  const UniqueFd raw(::socket(AF_INET, SOCK_RAW | SOCK_CLOEXEC, IPPROTO_ICMP));
  if (!raw.valid()) GTEST_SKIP() << "no permission for raw sockets";
  const IpAddress router = freshLoopback();
  const IpAddress destination = freshLoopback();
  sockaddr_storage address{};
  socklen_t length = router.toSockaddr(0, address);
  ASSERT_EQ(bind(raw.get(), reinterpret_cast<const sockaddr*>(&address), length), 0);
  length = socket->address().toSockaddr(0, address);
  const auto message =
      timeExceeded(socket->address(), destination, std::vector<std::uint8_t>(44, 0x42));
  ASSERT_GT(sendto(raw.get(), message.data(), message.size(), 0,
                   reinterpret_cast<const sockaddr*>(&address), length),
            0);
  RxBatch batch;
  for (int i = 0; i < 1000 && socket->bounces().empty(); ++i) {
    usleep(1000);
    socket->readErrors(batch);
  }
  ASSERT_EQ(socket->bounces().size(), 1U);
  const Bounce& bounce = socket->bounces()[0];
  EXPECT_TRUE(bounce.expired);
  EXPECT_FALSE(bounce.refused);
  EXPECT_EQ(bounce.sender, router);
  EXPECT_EQ(bounce.destination, (SocketAddress{destination, kPort}));
  ASSERT_EQ(bounce.quoted_bytes, 44U);
  EXPECT_EQ(bounce.quoted[43], 0x42);
}

TEST(RawUdpSocket, SeesItsPortAndAddressOnly) {
  const auto receiver = UdpSocket::bind(freshLoopback(), kPort);
  const auto other_address = UdpSocket::bind(freshLoopback(), kPort);
  const auto other_port = UdpSocket::bind(receiver->address(), kPort + 1);
  ASSERT_TRUE(receiver && other_address && other_port);
  const auto raw = RawUdpSocket::bind(receiver->address(), kPort + 1);
  if (!raw) GTEST_SKIP() << raw.error().text();
  RxBatch batch(200);
  ASSERT_EQ(send(*other_address, *receiver, 10), 10);
  EXPECT_EQ(batch.receive(raw->descriptor(), 0), 0) << "another port";
  ASSERT_EQ(send(*receiver, *other_address, 10), 10);
  EXPECT_EQ(batch.receive(raw->descriptor(), 0), 0) << "another address";
}

}  // namespace
}  // namespace pingloom::net::udp_socket_test
