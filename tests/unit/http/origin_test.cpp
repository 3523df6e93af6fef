#include "http/origin.h"

#include <gmock/gmock.h>

namespace pingloom::http::origin_test {
namespace {

TEST(HostAllowed, AddressesLocalhostAndConfiguredNames) {
  const std::vector<std::string> names = {"pingloom.example"};
  for (const char* host : {"127.0.0.1:8080", "127.0.0.1", "[::1]:8080", "[::1]", "10.0.0.1:80",
                           "localhost:8080", "LocalHost", "", "Pingloom.Example:8080"}) {
    EXPECT_TRUE(hostAllowed(host, names)) << host;
  }
  for (const char* host : {"evil.example:8080", "127.0.0.1.evil.example", "localhost.evil.example",
                           "[", ":8080", "pingloom.example.evil"}) {
    EXPECT_FALSE(hostAllowed(host, names)) << host;
  }
}

TEST(OriginAllowed, OnlyTheSameAuthority) {
  EXPECT_TRUE(originAllowed("", "127.0.0.1:8080", false));
  EXPECT_TRUE(originAllowed("http://127.0.0.1:8080", "127.0.0.1:8080", false));
  EXPECT_TRUE(originAllowed("https://Dash.example", "dash.example", false));
  EXPECT_FALSE(originAllowed("http://evil.example", "127.0.0.1:8080", false));
  EXPECT_FALSE(originAllowed("http://127.0.0.1:8081", "127.0.0.1:8080", false));
  EXPECT_FALSE(originAllowed("http://127.0.0.1:8080.evil.example", "127.0.0.1:8080", false));
  EXPECT_FALSE(originAllowed("null", "127.0.0.1:8080", false));
  EXPECT_TRUE(originAllowed("HTTPS://dash.example", "dash.example", true));
  EXPECT_FALSE(originAllowed("http://dash.example", "dash.example", true));
}

}  // namespace
}  // namespace pingloom::http::origin_test
