#include "net/udp_group.h"

#include <gtest/gtest.h>
#include <sys/socket.h>

#include <algorithm>

#include "common/random.h"
#include "net/rx_batch.h"

namespace pingloom::net::udp_group_test {
namespace {

constexpr std::uint16_t kPort = 4791;
constexpr PayloadField kField = {2, 0xFFFF};  // the bytes 4 and 5 of the payload

IpAddress freshAddress() {
  return IpAddress::fromV4(0x7F4E0000 + static_cast<std::uint32_t>(randomU64() % 0xFFFE));
}

// A datagram whose field is `value`; bits that the mask leaves out are set.
std::vector<std::uint8_t> datagram(std::uint16_t value) {
  return {1, 2, 0xFF, 0xFF, static_cast<std::uint8_t>(value >> 8), static_cast<std::uint8_t>(value),
          7};
}

void send(const IpAddress& to, const std::vector<std::uint8_t>& payload) {
  auto socket = UdpSocket::bind(to, 0);
  ASSERT_TRUE(socket);
  sockaddr_storage address{};
  const socklen_t length = to.toSockaddr(kPort, address);
  ASSERT_EQ(sendto(socket->descriptor(), payload.data(), payload.size(), 0,
                   reinterpret_cast<const sockaddr*>(&address), length),
            static_cast<ssize_t>(payload.size()));
}

// The sizes of the datagrams that wait at the socket; loopback delivers within send().
std::vector<std::size_t> waiting(UdpSocket& socket) {
  RxBatch batch;
  std::vector<std::size_t> sizes;
  const int got = batch.receive(socket.descriptor(), 0);
  for (int i = 0; i < got; ++i) sizes.push_back(batch.length(static_cast<std::size_t>(i)));
  return sizes;
}

TEST(UdpGroup, TheFieldOfADatagramChoosesItsSocket) {
  const IpAddress address = freshAddress();
  auto group = bindGroup(address, kPort, 3, kField, {});
  ASSERT_TRUE(group) << group.error().text();
  ASSERT_EQ(group->size(), 3U);
  for (const std::uint16_t value : {0, 1, 2, 3, 4, 5, 255, 256, 65534, 65535}) {
    send(address, datagram(value));
    for (std::size_t i = 0; i < group->size(); ++i) {
      EXPECT_EQ(waiting((*group)[i]).size(), value % 3U == i ? 1U : 0U) << value << " at " << i;
    }
  }
  send(address, {1, 2, 3, 4, 5});
  EXPECT_EQ(waiting((*group)[0]), std::vector<std::size_t>{5}) << "it has no field";
}

TEST(UdpGroup, TakesNoPortThatIsTakenAndLetsNobodyIn) {
  UdpSocketOptions named;
  named.port_taken = "it is taken";
  const IpAddress address = freshAddress();
  {
    const auto other = UdpSocket::bind(address, kPort);
    ASSERT_TRUE(other);
    const auto group = bindGroup(address, kPort, 2, kField, named);
    ASSERT_FALSE(group);
    EXPECT_EQ(group.error().reason, "it is taken");
  }
  const auto group = bindGroup(address, kPort, 2, kField, named);
  ASSERT_TRUE(group);
  EXPECT_FALSE(UdpSocket::bind(address, kPort));
  for (const std::uint32_t count : {1U, 2U}) {
    const auto second = bindGroup(address, kPort, count, kField, named);
    ASSERT_FALSE(second) << count;
    EXPECT_EQ(second.error().reason, "it is taken");
  }
}

}  // namespace
}  // namespace pingloom::net::udp_group_test
