#include "keys/key_merge.h"

#include <fmt/format.h>
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

constexpr Nanos kNow = 1'795'230'720 * kSecond;

KeySet merged(const KeySet& base, const KeySet& mine, const KeySet& theirs, Nanos now = kNow) {
  auto made = mergeKeys(base, mine, theirs, now);
  EXPECT_TRUE(made) << made.error().text();
  return made ? *made : KeySet();
}

TEST(KeyMerge, WhatEitherHasAddedOrRemovedTakesEffect) {
  KeySet theirs = with({agent_c});
  theirs.removed = merged(with({agent_a}), with({}), with({agent_a})).removed;  // they removed a
  EXPECT_EQ(hostsOf(merged(with({agent_a}), with({agent_a, agent_b}), theirs)),
            (std::vector<std::string>{"b", "c"}));
}

TEST(KeyMerge, WithoutACommonStateAllAreKept) {
  EXPECT_EQ(hostsOf(merged({}, with({agent_a, agent_b}), with({agent_b, agent_c}))),
            (std::vector<std::string>{"a", "b", "c"}));
}

TEST(KeyMerge, ARevokedKeyStaysRevokedWhateverTheOtherHas) {
  const KeySet after = merged(with({agent_a}), with({}), with({agent_a}));
  EXPECT_TRUE(hostsOf(after).empty());
  EXPECT_EQ(after.removed.size(), 1U);
  // The other one has changed it meanwhile, or the database has forgotten the removal.
  const AuthorizedKey moved = withAddress(agent_a, "10.0.0.9");
  EXPECT_TRUE(hostsOf(merged(after, with({}), with({moved}))).empty());
  // A file that was restored has it again.
  EXPECT_TRUE(hostsOf(merged(after, with({agent_a}), after)).empty());
}

TEST(KeyMerge, WhatTheOtherHasForgottenIsKept) {
  // The common state has it, and nobody has removed it.
  EXPECT_EQ(hostsOf(merged(with({agent_a}), with({agent_a}), with({}))),
            std::vector<std::string>{"a"});
}

TEST(KeyMerge, AKeyThatIsAuthorisedAnewIsValid) {
  const KeySet after = merged(with({agent_a}), with({}), with({agent_a}));
  AuthorizedKey again = agent_a;
  again.added = formatUtc(kNow + 2 * kSecond);
  const KeySet made = merged(after, with({again}), after, kNow + 3 * kSecond);
  EXPECT_EQ(hostsOf(made), std::vector<std::string>{"a"});
  EXPECT_TRUE(made.removed.empty());
}

TEST(KeyMerge, ARemovalCountsWhateverTheClockOfTheOtherWas) {
  AuthorizedKey ahead = agent_a;
  ahead.added = formatUtc(kNow + kHour);
  EXPECT_TRUE(hostsOf(merged(with({ahead}), with({}), with({ahead}))).empty());
}

TEST(KeyMerge, AKeyThatIsAuthorisedAnewInTheSameSecondIsValid) {
  const KeySet after = merged(with({agent_a}), with({}), with({agent_a}));
  AuthorizedKey again = agent_a;
  again.added = formatUtc(kNow);
  EXPECT_EQ(hostsOf(merged(after, with({again}), after)), std::vector<std::string>{"a"});
}

TEST(KeyMerge, AChangeOfOneIsKept) {
  const AuthorizedKey moved = withAddress(agent_a, "10.0.0.9");
  for (const KeySet& made : {merged(with({agent_a}), with({moved}), with({agent_a})),
                             merged(with({agent_a}), with({agent_a}), with({moved}))}) {
    EXPECT_EQ(made.authorized.entries()[0].addresses[0].text(), "10.0.0.9");
  }
  KnownToken manual = token(2);
  manual.manual = true;
  EXPECT_TRUE(
      merged(with({}, {token(2)}), with({}, {manual}), with({}, {token(3)})).book.tokens[0].manual);
}

TEST(KeyMerge, UsesOfATokenAddUp) {
  const auto used = [](const KeySet& made) { return made.book.tokens.at(0).used; };
  EXPECT_EQ(used(merged(with({}, {token(2)}), with({}, {token(5)}), with({}, {token(3)}))), 6U)
      << "three here and one there";
  EXPECT_EQ(used(merged(with({}, {token(2)}), with({}, {token(5)}), with({}, {token(5)}))), 5U)
      << "that is the same state, merged before";
  EXPECT_EQ(
      used(merged(with({}, {token(2)}), with({agent_a}, {token(3)}), with({agent_b}, {token(3)}))),
      4U)
      << "one here and one there";
  EXPECT_TRUE(merged(with({}, {token(2)}), with({}), with({}, {token(4)})).book.tokens.empty())
      << "it is revoked";
}

TEST(KeyMerge, AKeyThatOneHasApprovedDoesNotWaitAtTheOther) {
  KeySet waiting = with({});
  waiting.book.requests.emplace_back(agent_a);
  const KeySet made = merged(waiting, with({agent_a}), waiting);
  EXPECT_EQ(hostsOf(made), std::vector<std::string>{"a"});
  EXPECT_TRUE(made.book.requests.empty());
}

TEST(KeyMerge, AResultThatExceedsABoundIsAnError) {
  KeySet many;
  for (int i = 0; i < 16; ++i) {
    const std::string number = std::to_string(i);
    ASSERT_TRUE(many.authorized.add(agent("h" + number, "10." + number + ".[0-255].[0-255]")));
  }
  EXPECT_TRUE(mergeKeys({}, {}, many, kNow));
  EXPECT_FALSE(mergeKeys({}, with({agent_a}), many, kNow));
}

TEST(KeyMerge, SurplusTokensAndRequestsAreDropped) {
  KeySet mine;
  KeySet theirs;
  for (std::size_t i = 0; i < JoinBook::kMaxRequests; ++i) {
    for (KeySet* side : {&mine, &theirs}) {
      const auto number = 2 * i + (side == &mine ? 1 : 0);
      AuthorizedKey entry(*net::CurveKey::parse(fmt::format("{:040}", number)));
      EXPECT_TRUE(addAddresses("10.0.0.1", entry));
      side->book.requests.emplace_back(std::move(entry));
    }
  }
  EXPECT_EQ(merged({}, mine, theirs).book.requests.size(), JoinBook::kMaxRequests);
}

TEST(KeyMerge, RemovalsAreReadAsTheyAreWritten) {
  const KeySet after = merged(with({agent_a}, {token(1)}), with({}), with({agent_a}));
  ASSERT_EQ(after.removed.size(), 2U);
  EXPECT_EQ(parseRemovals(removalsText(after.removed)).value(), after.removed);
  for (const char* wrong : {"x", "2026-11-26T00:00:00Z", "yesterday key x\n", "\n"}) {
    EXPECT_FALSE(parseRemovals(wrong)) << wrong;
  }
}

}  // namespace
}  // namespace pingloom::keys::key_merge_test
