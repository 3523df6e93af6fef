#include "plan/address_range.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace pingloom::plan::address_range_test {
namespace {

std::vector<std::string> expanded(std::string_view text, std::size_t at_most = 100) {
  AddressList list;
  if (auto status = expandAddresses(text, {0, at_most}, list); !status)
    return {status.error().text()};
  std::vector<std::string> texts;
  for (const IpAddress& address : list) texts.push_back(address.text());
  return texts;
}

using Texts = std::vector<std::string>;

TEST(AddressRange, TheLastPartRunsFastest) {
  EXPECT_EQ(expanded("10.0.0.7"), (Texts{"10.0.0.7"}));
  EXPECT_EQ(expanded("10.0.[0-1].[8-10]"),
            (Texts{"10.0.0.8", "10.0.0.9", "10.0.0.10", "10.0.1.8", "10.0.1.9", "10.0.1.10"}));
}

TEST(AddressRange, PartsOfIpv6AreHexadecimal) {
  EXPECT_EQ(expanded("fd00::[9-b]"), (Texts{"fd00::9", "fd00::a", "fd00::b"}));
}

TEST(AddressRange, AnErrorNamesTheBoundOfTheList) {
  AddressList list;
  const auto status = expandAddresses("10.0.0.[1-4]", {65'533, 65'536}, list);
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().text(), "'10.0.0.[1-4]': makes a list of more than 65536 addresses");
}

TEST(AddressRange, AppendsAllOrNothing) {
  AddressList list = {*IpAddress::parse("10.0.0.1")};
  const ListRoom three{7, 10};
  EXPECT_TRUE(expandAddresses("10.0.0.[2-4]", three, list));
  EXPECT_EQ(list.size(), 4U);
  EXPECT_FALSE(expandAddresses("10.0.0.[5-8]", three, list)) << "four are more than three";
  EXPECT_FALSE(expandAddresses("[223-224].0.0.1", three, list)) << "224.0.0.1 is multicast";
  EXPECT_FALSE(expandAddresses("10.0.0.[4-3]", three, list));
  EXPECT_EQ(list.size(), 4U);
}

}  // namespace
}  // namespace pingloom::plan::address_range_test
