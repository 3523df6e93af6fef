#include "net/control_data.h"

#include <gtest/gtest.h>
#include <linux/net_tstamp.h>
#include <netinet/in.h>

#include <set>
#include <utility>

namespace pingloom::net::control_data_test {
namespace {

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
}  // namespace pingloom::net::control_data_test
