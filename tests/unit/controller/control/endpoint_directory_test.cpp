#include "controller/control/endpoint_directory.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "unit/controller/support.h"

namespace pingloom::controller::endpoint_directory_test {
namespace {

using test::endpointOf;
using test::ip;

class EndpointDirectoryTest : public testing::Test {
 protected:
  void set(const std::string& address, std::uint32_t qpn) {
    const auto endpoint = endpointOf(address, qpn);
    directory_.set(endpoint.address, &endpoint);
  }
  wire::EndpointUpdate update(std::uint64_t held) {
    wire::ControllerMessage message;
    EXPECT_TRUE(message.ParseFromString(*updateFrom(held)));
    return message.endpoints();
  }
  // For an agent that gets all endpoints.
  std::shared_ptr<const std::string> updateFrom(std::uint64_t held) {
    return directory_.updateFrom({held != 0, held, held, all_}, *all_);
  }
  // What an agent has after one more update.
  void follow(plan::HeldEndpoints& held) {
    const bool ours = held.version.controller == directory_.controller();
    auto next = plan::apply(update(ours ? held.version.number : 0), held);
    ASSERT_TRUE(next) << next.error().text();
    held = std::move(*next);
  }
  std::string textOf(const plan::HeldEndpoints& held) {
    std::map<std::string, std::uint32_t> sorted;
    for (const auto& [address, endpoint] : *held.table) sorted[address.text()] = endpoint.qpn;
    std::string text;
    for (const auto& [address, qpn] : sorted) text += address + "=" + std::to_string(qpn) + " ";
    return text;
  }

  const std::shared_ptr<const EndpointScope> all_ = std::make_shared<const EndpointScope>();
  EndpointDirectory directory_{plan::HeldEndpoints{}};
};

EndpointScope scopeOf(std::vector<int> hosts) {
  EndpointScope made;
  made.addresses.emplace();
  made.hash = 1U << 31;
  std::sort(hosts.begin(), hosts.end());
  for (const int host : hosts) {
    made.addresses->push_back(ip("10.0.0." + std::to_string(host)));
    made.hash += 2ULL << host;
  }
  return made;
}

// An agent, and what the controller knows of its table.
struct Follower {
  // Takes an update, if there is one, and returns it.
  std::optional<wire::EndpointUpdate> follow(EndpointDirectory& directory) {
    const auto bytes = directory.updateFrom(known, scope);
    known.right_at = directory.version();
    if (bytes == nullptr) return std::nullopt;
    known.version = directory.version();
    known.scope = std::make_shared<const EndpointScope>(scope);
    wire::ControllerMessage message;
    EXPECT_TRUE(message.ParseFromString(*bytes));
    auto next = plan::apply(message.endpoints(), held);
    EXPECT_TRUE(next) << next.error().text();
    if (next) held = std::move(*next);
    return message.endpoints();
  }
  // It comes back, and says what it holds.
  void reconnect(const EndpointDirectory& directory) {
    known.version = held.version.controller == directory.controller() ? held.version.number : 0;
    known.right_at = known.version;
    known.scope = nullptr;
    if (held.version.scope == scope.hash) known.scope = std::make_shared<EndpointScope>(scope);
  }

  EndpointScope scope;
  HeldTable known = {};
  plan::HeldEndpoints held = {};
};

TEST_F(EndpointDirectoryTest, AgentsFollowByDifferencesFromWhateverTheyHold) {
  plan::HeldEndpoints prompt;
  plan::HeldEndpoints slow;
  set("10.0.0.1", 17);
  set("10.0.0.2", 18);
  ASSERT_TRUE(directory_.commit());
  follow(prompt);
  follow(slow);
  EXPECT_EQ(textOf(prompt), "10.0.0.1=17 10.0.0.2=18 ");
  set("10.0.0.1", 99);
  ASSERT_TRUE(directory_.commit());
  EXPECT_EQ(update(2).changed_size(), 1) << "only what is other";
  follow(prompt);
  directory_.set(ip("10.0.0.2"), nullptr);
  set("fd00::3", 20);
  ASSERT_TRUE(directory_.commit());
  follow(prompt);
  follow(slow);
  EXPECT_EQ(textOf(prompt), "10.0.0.1=99 fd00::3=20 ");
  EXPECT_EQ(textOf(slow), textOf(prompt)) << "two versions in one step";
  set("10.0.0.2", 21);
  ASSERT_TRUE(directory_.commit());
  follow(prompt);
  EXPECT_EQ(textOf(prompt), "10.0.0.1=99 10.0.0.2=21 fd00::3=20 ") << "it came back";
}

TEST_F(EndpointDirectoryTest, NothingNewIsNoVersion) {
  EXPECT_FALSE(directory_.commit());
  set("10.0.0.1", 17);
  ASSERT_TRUE(directory_.commit());
  set("10.0.0.1", 17);
  directory_.set(ip("10.0.0.2"), nullptr);
  EXPECT_FALSE(directory_.commit());
  EXPECT_EQ(directory_.version(), 2U);
}

TEST_F(EndpointDirectoryTest, AnUpdateIsEncodedOnceForAll) {
  set("10.0.0.1", 17);
  directory_.commit();
  EXPECT_EQ(updateFrom(0), updateFrom(0));
  EXPECT_EQ(updateFrom(1), updateFrom(1));
  EXPECT_NE(updateFrom(0), updateFrom(1));
  EXPECT_EQ(updateFrom(99), updateFrom(0)) << "of the future";
  for (std::uint64_t held = 0; held < 100; ++held) {
    set("10.0.0.1", 18 + static_cast<std::uint32_t>(held));
    directory_.commit();
  }
  for (std::uint64_t held = 0; held < 100; ++held) {
    EXPECT_NE(updateFrom(held), nullptr) << "more bases than are kept";
  }
}

TEST_F(EndpointDirectoryTest, VersionsBeforeTheForgottenRemovalsGetTheWholeTable) {
  plan::HeldEndpoints prompt;
  plan::HeldEndpoints slow;
  for (std::uint32_t i = 0; i <= EndpointDirectory::kMaxRemoved + 1; ++i) {
    const auto endpoint = endpointOf(IpAddress::fromV4(0x0a000001 + i).text(), 17);
    directory_.set(endpoint.address, &endpoint);
  }
  directory_.commit();
  follow(prompt);
  follow(slow);
  for (std::uint32_t i = 1; i <= EndpointDirectory::kMaxRemoved; ++i) {
    directory_.set(IpAddress::fromV4(0x0a000001 + i), nullptr);
  }
  directory_.commit();
  follow(prompt);
  EXPECT_NE(update(slow.version.number).base_version(), 0U);
  directory_.set(ip("10.0.0.1"), nullptr);
  directory_.commit();
  EXPECT_NE(update(prompt.version.number).base_version(), 0U);
  EXPECT_EQ(update(slow.version.number).base_version(), 0U) << "all but the newest are forgotten";
  follow(prompt);
  follow(slow);
  EXPECT_EQ(prompt.table->size(), 1U);
  EXPECT_EQ(*slow.table, *prompt.table);
}

TEST_F(EndpointDirectoryTest, ARestartedControllerGoesOnFromWhatItKept) {
  plan::HeldEndpoints prompt;
  set("10.0.0.1", 17);
  set("10.0.0.2", 18);
  directory_.commit();
  follow(prompt);
  const plan::HeldEndpoints kept = directory_.held();
  set("10.0.0.1", 99);
  directory_.commit();
  plan::HeldEndpoints later = prompt;
  follow(later);  // and this was not kept

  directory_ = EndpointDirectory(kept);
  EXPECT_EQ(update(prompt.version.number).changed_size(), 0) << "it holds what was kept";
  follow(prompt);
  EXPECT_EQ(textOf(prompt), "10.0.0.1=17 10.0.0.2=18 ");
  EXPECT_EQ(update(later.version.number).base_version(), 0U) << "nobody knows what that was";
  follow(later);
  EXPECT_EQ(textOf(later), textOf(prompt));
  directory_.set(ip("10.0.0.2"), nullptr);
  directory_.commit();
  plan::HeldEndpoints slow = kept;
  for (plan::HeldEndpoints* held : {&prompt, &later, &slow}) {
    follow(*held);
    EXPECT_EQ(textOf(*held), "10.0.0.1=17 ");
  }
}

TEST_F(EndpointDirectoryTest, AnAgentGetsWhatIsInItsScopeOnly) {
  Follower agent{scopeOf({1, 2})};
  for (int host = 1; host <= 3; ++host) set("10.0.0." + std::to_string(host), 17);
  directory_.commit();
  ASSERT_TRUE(agent.follow(directory_));
  EXPECT_EQ(textOf(agent.held), "10.0.0.1=17 10.0.0.2=17 ");
  set("10.0.0.3", 99);
  directory_.commit();
  EXPECT_FALSE(agent.follow(directory_)) << "it does not need to know";
  set("10.0.0.1", 99);
  directory_.commit();
  const auto update = agent.follow(directory_);
  ASSERT_TRUE(update);
  EXPECT_NE(update->base_version(), 0U);
  EXPECT_EQ(update->scope(), agent.scope.hash);
  EXPECT_EQ(textOf(agent.held), "10.0.0.1=99 10.0.0.2=17 ");
}

TEST_F(EndpointDirectoryTest, ChangesOfAScopeAreDifferences) {
  Follower agent{scopeOf({1, 2})};
  for (int host = 1; host <= 3; ++host) set("10.0.0." + std::to_string(host), 17);
  directory_.commit();
  agent.follow(directory_);
  agent.scope = scopeOf({2, 3});
  const auto update = agent.follow(directory_);
  ASSERT_TRUE(update);
  EXPECT_NE(update->base_version(), 0U);
  EXPECT_EQ(update->changed_size(), 1);
  EXPECT_EQ(update->removed_size(), 1);
  EXPECT_EQ(textOf(agent.held), "10.0.0.2=17 10.0.0.3=17 ");
  agent.scope = scopeOf({4});
  agent.reconnect(directory_);
  const auto whole = agent.follow(directory_);
  ASSERT_TRUE(whole);
  EXPECT_EQ(whole->base_version(), 0U) << "which table that is, nobody knows any more";
  EXPECT_TRUE(agent.held.table->empty());
}

TEST_F(EndpointDirectoryTest, WhateverHappensEachAgentHasWhatIsInItsScope) {
  std::mt19937 random(7001);
  const auto below = [&](int end) { return std::uniform_int_distribution<>(0, end - 1)(random); };
  const auto some_scope = [&] {
    if (below(6) == 0) return EndpointScope{};
    std::vector<int> hosts;
    for (int host = 0; host < 12; ++host) {
      if (below(2) == 0) hosts.push_back(host);
    }
    return scopeOf(hosts);
  };
  std::map<std::string, std::uint32_t> is;
  std::vector<Follower> agents(6);
  plan::HeldEndpoints kept = directory_.held();
  for (int step = 0; step < 3000; ++step) {
    for (int changes = below(4); changes > 0; --changes) {
      const std::string address = "10.0.0." + std::to_string(below(12));
      const auto qpn = static_cast<std::uint32_t>(17 + below(1000));
      const bool gone = below(3) == 0;
      gone ? directory_.set(ip(address), nullptr) : set(address, qpn);
      gone ? void(is.erase(address)) : void(is[address] = qpn);
    }
    directory_.commit();
    if (below(20) == 0) kept = directory_.held();
    if (below(100) == 0) {  // a restart; what was kept may be older than what agents hold
      directory_ = EndpointDirectory(kept);
      kept.version = directory_.held().version;  // as EndpointPush does
      is.clear();
      for (const auto& [address, endpoint] : *kept.table) is[address.text()] = endpoint.qpn;
      for (Follower& agent : agents) agent.reconnect(directory_);
    }
    for (Follower& agent : agents) {
      if (below(10) == 0) agent.scope = some_scope();
      if (below(20) == 0) agent.reconnect(directory_);
      if (below(3) == 0) continue;
      agent.follow(directory_);
      std::string expected;
      for (const auto& [address, qpn] : is) {
        if (agent.scope.contains(ip(address)))
          expected += address + "=" + std::to_string(qpn) + " ";
      }
      ASSERT_EQ(textOf(agent.held), expected) << "step " << step;
    }
  }
}

}  // namespace
}  // namespace pingloom::controller::endpoint_directory_test
