#include "collector/reader_shares.h"

#include <gtest/gtest.h>

namespace pingloom::collector::reader_shares_test {
namespace {

using Shares = std::vector<std::vector<AgentSpec>>;

// How many agents each reader has.
std::vector<std::size_t> sizes(const Shares& shares) {
  std::vector<std::size_t> made;
  for (const auto& share : shares) made.push_back(share.size());
  return made;
}

// The reader that has the agent, and that no other one has it.
std::size_t readerOf(const Shares& shares, const std::string& agent) {
  std::size_t found = shares.size();
  for (std::size_t i = 0; i < shares.size(); ++i) {
    for (const AgentSpec& spec : shares[i]) {
      if (spec.agent != agent) continue;
      EXPECT_EQ(found, shares.size()) << agent << " is there twice";
      found = i;
    }
  }
  return found;
}

AgentSpec every(Nanos interval, const std::string& agent) { return {agent, interval}; }

TEST(ReaderShares, GivesReadersEquallyManyRoundsPerSecond) {
  ReaderShares readers(3);
  const auto shares =
      readers.share({every(10 * kMillisecond, "fast"), every(kSecond, "a"), every(kSecond, "b"),
                     every(kSecond, "c"), every(kSecond, "d")});
  EXPECT_EQ(sizes(shares), (std::vector<std::size_t>{1, 2, 2}));
  EXPECT_EQ(readerOf(shares, "fast"), 0U);
}

TEST(ReaderShares, AnAgentStaysWithItsReaderWhenOthersComeAndGo) {
  ReaderShares readers(2);
  const auto first = readers.share({every(kSecond, "a"), every(kSecond, "b"), every(kSecond, "c")});
  const std::size_t of_b = readerOf(first, "b");
  // Both agents of the other reader are gone, so the fresh ones replace them. The order of the list
  // is of no importance, and neither is a new interval.
  const auto second =
      readers.share({every(kSecond, "x"), every(kSecond, "y"), every(2 * kSecond, "b")});
  EXPECT_EQ(readerOf(second, "b"), of_b);
  EXPECT_EQ(second[of_b].front().interval, 2 * kSecond);
  EXPECT_EQ(readerOf(second, "x"), 1 - of_b);
  EXPECT_EQ(readerOf(second, "y"), of_b) << "b counts half now";
}

TEST(ReaderShares, OneReaderHasAllAndNoAgentIsNeeded) {
  ReaderShares one(1);
  EXPECT_EQ(sizes(one.share({every(1, "a"), every(kHour, "b")})), std::vector<std::size_t>{2});
  ReaderShares several(4);
  EXPECT_EQ(sizes(several.share({})), std::vector<std::size_t>(4, 0));
}

}  // namespace
}  // namespace pingloom::collector::reader_shares_test
