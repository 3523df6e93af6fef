#include "common/host_port.h"

#include <gtest/gtest.h>

#include <string>

namespace pingloom::host_port_test {
namespace {

std::string parsed(std::string_view text) {
  const auto made = parseHostPort(text, 7);
  return made ? *made : made.error().text();
}

TEST(HostPort, AddsTheDefaultPort) {
  EXPECT_EQ(parsed("dpu-1"), "dpu-1:7");
  EXPECT_EQ(parsed("10.0.0.1"), "10.0.0.1:7");
  EXPECT_EQ(parsed("[fd00::5]"), "[fd00::5]:7");
}

TEST(HostPort, TakesAPort) {
  EXPECT_EQ(parsed("dpu-1:8"), "dpu-1:8");
  EXPECT_EQ(parsed("10.0.0.1:65535"), "10.0.0.1:65535");
  EXPECT_EQ(parsed("[fd00::5]:9"), "[fd00::5]:9");
}

TEST(HostPort, SaysWhatIsWrong) {
  EXPECT_EQ(parsed(""), "'': not HOST:PORT");
  EXPECT_EQ(parsed("a b"), "'a b': not HOST:PORT");
  EXPECT_EQ(parsed(std::string(254, 'a')).substr(254 + 2), ": not HOST:PORT");
  EXPECT_EQ(parsed("a:0"), "'a:0': the port is not a number 1..65535");
  EXPECT_EQ(parsed("a:65536"), "'a:65536': the port is not a number 1..65535");
  EXPECT_EQ(parsed("fd00::5:9"), "'fd00::5:9': write an IPv6 address as [ADDRESS]:PORT");
  EXPECT_EQ(parsed("[10.0.0.1]:1"), "'[10.0.0.1]:1': not an IPv6 address in brackets");
}

}  // namespace
}  // namespace pingloom::host_port_test
