// The small parts of the UDP transport.
#include <gtest/gtest.h>
#include <linux/net_tstamp.h>

#include <set>

#include "probe/udp/control_data.h"
#include "probe/udp/guest_list.h"
#include "probe/udp/nonces.h"
#include "probe/udp/token_bucket.h"
#include "probe/udp/tx_numbers.h"

namespace pingloom::probe::udp {
namespace {

TxTag ping(std::uint32_t id) { return {TxTag::Kind::kPing, id}; }

TEST(TxNumbers, SaysWhatANumberStandsForOnce) {
  TxNumbers numbers;
  EXPECT_FALSE(numbers.take(0));
  EXPECT_FALSE(numbers.awaits());
  numbers.add(ping(70));
  numbers.add(ping(71));
  EXPECT_TRUE(numbers.awaits());
  EXPECT_EQ(numbers.take(1)->id, 71U);
  EXPECT_FALSE(numbers.awaits()) << "the last one has been heard of";
  EXPECT_EQ(numbers.take(0)->id, 70U);
  EXPECT_FALSE(numbers.take(0));
  EXPECT_FALSE(numbers.take(2)) << "not given out yet";
}

TEST(TxNumbers, ForgetsWhatIsTooOldAndWhatWasBeforeARestart) {
  TxNumbers numbers;
  for (std::uint32_t i = 0; i <= TxNumbers::kRemembered; ++i) numbers.add(ping(i));
  EXPECT_FALSE(numbers.take(0));
  EXPECT_EQ(numbers.take(1)->id, 1U);
  EXPECT_EQ(numbers.take(TxNumbers::kRemembered)->id, TxNumbers::kRemembered);
  numbers.restart();
  EXPECT_FALSE(numbers.take(2));
  numbers.add(ping(9));
  EXPECT_EQ(numbers.take(0)->id, 9U);
}

TEST(TokenBucket, LimitsTheRateAndAllowsABurst) {
  TokenBucket bucket(1000);
  const Nanos start = kHour;
  int taken = 0;
  for (int i = 0; i < 5000; ++i) taken += bucket.take(start) ? 1 : 0;
  EXPECT_EQ(taken, 1000);
  for (int i = 0; i < 5000; ++i) taken += bucket.take(start + 100 * kMillisecond) ? 1 : 0;
  EXPECT_EQ(taken, 1100);
  for (int i = 0; i < 5000; ++i) taken += bucket.take(start + kHour) ? 1 : 0;
  EXPECT_EQ(taken, 2100) << "what nobody used does not pile up";
}

TEST(GuestList, LimitsOnlyThoseItDoesNotKnow) {
  GuestList guests;
  guests.setKnown(std::make_shared<const plan::AddressList>(
      plan::AddressList{IpAddress::fromV4(10), IpAddress::fromV4(20)}));
  const Nanos now = kHour;
  std::uint32_t admitted = 0;
  for (std::uint32_t i = 0; i < 3000; ++i) {
    EXPECT_TRUE(guests.admits(IpAddress::fromV4(20), now));
    admitted += guests.admits(IpAddress::fromV4(1000 + i), now) ? 1 : 0;
  }
  EXPECT_EQ(admitted, GuestList::kStrangersPerSecond);
}

TEST(Nonces, DoNotRepeat) {
  Nonces nonces;
  std::set<std::uint64_t> seen;
  for (int i = 0; i < 2000; ++i) EXPECT_TRUE(seen.insert(nonces.next()).second);
}

TEST(ControlData, SaysNothingWhereNothingIsAsked) {
  EXPECT_EQ(makeControl({}, false).used, 0U);
  EXPECT_EQ(makeControl({}, true).used, 0U);
}

TEST(ControlData, HoldsAllThreeForBothFamilies) {
  for (const bool v6 : {false, true}) {
    SendOptions options;
    options.timestamp = true;
    options.traffic_class = 106;
    options.from = v6 ? *IpAddress::parse("fd00::5") : *IpAddress::parse("10.0.0.5");
    ControlData control = makeControl(options, v6);
    msghdr header{};
    header.msg_control = control.bytes.data();
    header.msg_controllen = control.used;
    std::set<std::pair<int, int>> found;
    for (cmsghdr* at = CMSG_FIRSTHDR(&header); at != nullptr; at = CMSG_NXTHDR(&header, at)) {
      found.insert({at->cmsg_level, at->cmsg_type});
    }
    const std::set<std::pair<int, int>> want = {
        {SOL_SOCKET, SO_TIMESTAMPING},
        {v6 ? IPPROTO_IPV6 : IPPROTO_IP, v6 ? IPV6_TCLASS : IP_TOS},
        {v6 ? IPPROTO_IPV6 : IPPROTO_IP, v6 ? IPV6_PKTINFO : IP_PKTINFO}};
    EXPECT_EQ(found, want);
  }
}

}  // namespace
}  // namespace pingloom::probe::udp
