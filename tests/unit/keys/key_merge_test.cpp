#include "keys/key_merge.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

namespace pingloom::keys::key_merge_test {
namespace {

AuthorizedKey agent(const std::string& host, const std::string& address) {
  AuthorizedKey entry(net::CurvePair::generate().public_key);
  entry.host = host;
  EXPECT_TRUE(addAddresses(address, entry));
  return entry;
}

KnownToken token(std::uint64_t used) {
  static const net::CurveKey key = net::CurvePair::generate().public_key;
  KnownToken made(key);
  made.created_utc = kSecond;
  made.expires_utc = kHour;
  made.uses = 100;
  made.used = used;
  return made;
}

KeySet with(const std::vector<AuthorizedKey>& entries, const std::vector<KnownToken>& tokens = {}) {
  KeySet made;
  for (const AuthorizedKey& entry : entries) EXPECT_TRUE(made.authorized.add(entry));
  made.book.tokens = tokens;
  return made;
}

std::vector<std::string> hostsOf(const KeySet& keys) {
  std::vector<std::string> hosts;
  for (const AuthorizedKey& entry : keys.authorized.entries()) hosts.push_back(entry.host);
  std::sort(hosts.begin(), hosts.end());
  return hosts;
}

const AuthorizedKey agent_a = agent("a", "10.0.0.1");
const AuthorizedKey agent_b = agent("b", "10.0.0.2");
const AuthorizedKey agent_c = agent("c", "10.0.0.3");

AuthorizedKey withAddress(AuthorizedKey entry, const std::string& address) {
  entry.addresses.clear();
  entry.expressions.clear();
  EXPECT_TRUE(addAddresses(address, entry));
  return entry;
}

TEST(KeyMerge, WhatEitherHasAddedOrRemovedTakesEffect) {
  const auto made = mergeKeys(with({agent_a}), with({agent_a, agent_b}), with({agent_c}));
  ASSERT_TRUE(made);
  EXPECT_EQ(hostsOf(*made), (std::vector<std::string>{"b", "c"}));
}

TEST(KeyMerge, WithoutACommonStateAllAreKept) {
  const auto made = mergeKeys({}, with({agent_a, agent_b}), with({agent_b, agent_c}));
  ASSERT_TRUE(made);
  EXPECT_EQ(hostsOf(*made), (std::vector<std::string>{"a", "b", "c"}));
}

TEST(KeyMerge, ARevokedKeyIsGoneAlsoIfTheOtherHasChangedIt) {
  const AuthorizedKey moved = withAddress(agent_a, "10.0.0.9");
  EXPECT_EQ(hostsOf(*mergeKeys(with({agent_a}), with({}), with({moved}))),
            std::vector<std::string>());
  EXPECT_EQ(hostsOf(*mergeKeys(with({agent_a}), with({moved}), with({}))),
            std::vector<std::string>());
}

TEST(KeyMerge, AChangeOfOneIsKept) {
  const AuthorizedKey moved = withAddress(agent_a, "10.0.0.9");
  for (const auto& made : {mergeKeys(with({agent_a}), with({moved}), with({agent_a})),
                           mergeKeys(with({agent_a}), with({agent_a}), with({moved}))}) {
    ASSERT_TRUE(made);
    EXPECT_EQ(made->authorized.entries()[0].addresses[0].text(), "10.0.0.9");
  }
}

TEST(KeyMerge, UsesOfATokenAddUp) {
  const auto made = mergeKeys(with({}, {token(2)}), with({}, {token(5)}), with({}, {token(3)}));
  ASSERT_TRUE(made);
  ASSERT_EQ(made->book.tokens.size(), 1U);
  EXPECT_EQ(made->book.tokens[0].used, 6U) << "three here and one there";
  const auto same = mergeKeys(with({}, {token(2)}), with({}, {token(5)}), with({}, {token(5)}));
  EXPECT_EQ(same->book.tokens[0].used, 5U) << "that is the same state, merged before";
  EXPECT_EQ(
      mergeKeys(with({}, {token(2)}), with({agent_a}, {token(3)}), with({agent_b}, {token(3)}))
          ->book.tokens[0]
          .used,
      4U)
      << "one here and one there";
  EXPECT_TRUE(mergeKeys(with({}, {token(2)}), with({}), with({}, {token(4)}))->book.tokens.empty())
      << "it is revoked";
}

TEST(KeyMerge, AKeyThatOneHasApprovedDoesNotWaitAtTheOther) {
  KeySet waiting = with({});
  waiting.book.requests.emplace_back(agent_a);
  const auto made = mergeKeys(waiting, with({agent_a}), waiting);
  ASSERT_TRUE(made);
  EXPECT_EQ(hostsOf(*made), std::vector<std::string>{"a"});
  EXPECT_TRUE(made->book.requests.empty());
}

TEST(KeyMerge, AResultThatExceedsABoundIsAnError) {
  KeySet many;
  for (int i = 0; i < 16; ++i) {
    const std::string number = std::to_string(i);
    ASSERT_TRUE(many.authorized.add(agent("h" + number, "10." + number + ".[0-255].[0-255]")));
  }
  EXPECT_TRUE(mergeKeys({}, {}, many));
  EXPECT_FALSE(mergeKeys({}, with({agent_a}), many));
}

}  // namespace
}  // namespace pingloom::keys::key_merge_test
