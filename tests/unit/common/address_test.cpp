#include "common/address.h"

#include <gtest/gtest.h>

namespace pingloom::address_test {
namespace {

TEST(IpAddress, IsCanonical) {
  EXPECT_EQ(IpAddress::parse("10.0.0.1")->text(), "10.0.0.1");
  EXPECT_EQ(IpAddress::parse("FD00:0:0:0:0:0:0:1")->text(), "fd00::1");
  EXPECT_EQ(IpAddress::parse("::ffff:10.0.0.1")->text(), "10.0.0.1");
  EXPECT_EQ(*IpAddress::parse("::ffff:10.0.0.1"), *IpAddress::parse("10.0.0.1"));
}

TEST(IpAddress, RefusesWhatIsNotOne) {
  for (const char* text :
       {"", "10.0.0", "10.0.0.256", "host", "10.0.0.1:80", "[::1]", "::1%eth0", "1.2.3.4 "}) {
    EXPECT_FALSE(IpAddress::parse(text)) << text;
  }
}

TEST(IpAddress, CrossesTheWire) {
  for (const char* text : {"127.0.1.8", "fd00::abcd"}) {
    const IpAddress address = *IpAddress::parse(text);
    EXPECT_EQ(*IpAddress::fromWire(address.wire()), address);
    sockaddr_storage storage;
    address.toSockaddr(99, storage);
    EXPECT_EQ(SocketAddress::fromSockaddr(reinterpret_cast<sockaddr*>(&storage)),
              (SocketAddress{address, 99}));
  }
  EXPECT_FALSE(IpAddress::fromWire("12345"));
}

TEST(IpAddress, CountsUpAndSaysWhenItOverflows) {
  EXPECT_EQ(IpAddress::parse("10.0.0.255")->plus(1)->text(), "10.0.1.0");
  EXPECT_EQ(IpAddress::parse("fd00::ffff")->plus(2)->text(), "fd00::1:1");
  EXPECT_FALSE(IpAddress::parse("255.255.255.255")->plus(1));
}

TEST(IpAddress, Sorts) {
  EXPECT_LT(*IpAddress::parse("9.0.0.1"), *IpAddress::parse("10.0.0.1"));
  EXPECT_LT(*IpAddress::parse("10.0.0.2"), *IpAddress::parse("10.0.0.10"));
  EXPECT_LT(*IpAddress::parse("255.0.0.1"), *IpAddress::parse("::1"));
}

TEST(SocketAddress, ReadsBothFamilies) {
  EXPECT_EQ(SocketAddress::parse("127.0.0.1:80")->text(), "127.0.0.1:80");
  EXPECT_EQ(SocketAddress::parse("[::1]:8080")->text(), "[::1]:8080");
  for (const char* text :
       {"127.0.0.1", "::1:80", "127.0.0.1:", "127.0.0.1:65536", "127.0.0.1:-1", ":80"}) {
    EXPECT_FALSE(SocketAddress::parse(text)) << text;
  }
}

}  // namespace
}  // namespace pingloom::address_test
