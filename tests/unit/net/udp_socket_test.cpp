#include "net/udp_socket.h"

#include <gtest/gtest.h>
#include <netinet/ip.h>
#include <sys/socket.h>

#include <cstring>
#include <vector>

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
  EXPECT_EQ(batch.receive(other->descriptor(), 0), 1);
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
    ASSERT_EQ(batch.receive(receiver->descriptor(), 0), coalesced ? 1 : 4);
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
    ASSERT_EQ(batch.receive(raw->descriptor(), 0), 1);
    iphdr ip;
    ASSERT_EQ(batch.length(0), sizeof ip + 8 + 100);
    std::memcpy(&ip, batch.head(0).data(), sizeof ip);
    EXPECT_EQ(ip.id, 0);
    EXPECT_EQ(ntohs(ip.frag_off), IP_DF);
    EXPECT_NE(batch.ancillary(0).kernel_utc, 0);
  }
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
