#include "agent/join_request.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "common/file.h"
#include "keys/key_file.h"
#include "unit/common/temporary_directory.h"

namespace pingloom::agent::join_request_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Config parsed(const std::string& text, const std::filesystem::path& folder = "/etc/pingloom") {
  const auto config =
      parseConfig("controller: c\nhost: gpu-001\n" + text, (folder / "agent.yaml").string());
  EXPECT_TRUE(config) << config.error().text();
  return config.value_or(Config());
}

std::vector<std::string> textsOf(const std::vector<IpAddress>& addresses) {
  std::vector<std::string> texts;
  for (const IpAddress& address : addresses) texts.push_back(address.text());
  return texts;
}

TEST(JoinRequest, NamesAllThatTheAgentWillRegister) {
  const auto key = net::CurvePair::generate().public_key;
  const auto request =
      joinRequestOf(parsed("addresses: [10.0.0.3, 10.0.0.1]\npages: { address: 10.0.0.2 }\n"), key);
  EXPECT_EQ(request.key, key);
  EXPECT_EQ(request.host, "gpu-001");
  EXPECT_EQ(request.role, keys::Role::kAgent);
  EXPECT_THAT(textsOf(request.addresses), ElementsAre("10.0.0.1", "10.0.0.2", "10.0.0.3"));
  const auto same =
      joinRequestOf(parsed("addresses: [10.0.0.1]\npages: { address: 10.0.0.1 }\n"), key);
  EXPECT_THAT(textsOf(same.addresses), ElementsAre("10.0.0.1"));
}

// Every host with a soft device has its pages there.
TEST(JoinRequest, ClaimsLoopbackOnlyFromAControllerOnTheSameHost) {
  struct Case {
    const char* controller;
    bool claimed;
  };
  for (const Case& one :
       {Case{"10.0.0.9:20711", false}, Case{"gpu-001:20711", false}, Case{"127.0.0.1:20711", true},
        Case{"[::1]:20711", true}, Case{"localhost:20711", true}}) {
    Config config = parsed("addresses: [10.0.0.1]\npages: { address: 127.0.0.1 }\n");
    config.controllers = {one.controller};
    const auto request = joinRequestOf(config, net::CurvePair::generate().public_key);
    EXPECT_EQ(request.addresses.size(), one.claimed ? 2U : 1U) << one.controller;
  }
}

TEST(JoinOnce, DoesNothingForAHostThatHasJoined) {
  const test::TemporaryDirectory folder;
  const std::string section = "keys: { secret: agent.key, join: token }\n";
  EXPECT_TRUE(parsed(section, folder.path()).keys->controller.empty());
  ASSERT_TRUE(keys::writeKeyPair(folder / "agent.key", net::CurvePair::generate()));
  const auto controller = net::CurvePair::generate().public_key;
  ASSERT_TRUE(writeFileAtomic(folder / "agent.key.controller", controller.text()));
  Config config = parsed(section, folder.path());
  EXPECT_THAT(config.keys->controller, ElementsAre(controller));
  EXPECT_TRUE(joinOnce(config)) << "there is no token any more, and none is needed";
  EXPECT_TRUE(loadKeys(config));
}

TEST(JoinOnce, ABadTokenIsAnErrorAndNoKeyIsMade) {
  const test::TemporaryDirectory folder;
  Config config = parsed("keys: { secret: agent.key, join: token }\n", folder.path());
  EXPECT_FALSE(joinOnce(config)) << "there is no token";
  ASSERT_TRUE(writeFileAtomic(folder / "token", "pingloom-join-12\n"));
  const auto joined = joinOnce(config);
  ASSERT_FALSE(joined);
  EXPECT_THAT(joined.error().text(), HasSubstr("is no whole join token"));
  EXPECT_FALSE(std::filesystem::exists(folder / "agent.key.new"));
  EXPECT_FALSE(loadKeys(config)) << "it has not joined";
}

TEST(JoinOnce, TheControllersKeyComesFromOnePlace) {
  const auto both =
      parseConfig("controller: c\nhost: h\nkeys: { secret: s, join: t, controller: " +
                      std::string(net::CurvePair::generate().public_key.text()) + " }\n",
                  "a.yaml");
  ASSERT_FALSE(both);
  EXPECT_THAT(both.error().text(), HasSubstr("leave 'controller' out"));
}

}  // namespace
}  // namespace pingloom::agent::join_request_test
