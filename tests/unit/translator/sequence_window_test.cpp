#include "translator/sequence_window.h"

#include <gtest/gtest.h>

#include <array>
#include <random>
#include <vector>

namespace pingloom::translator::sequence_window_test {
namespace {

using Arrival = SequenceWindow::Arrival;
constexpr std::uint32_t kSize = SequenceWindow::kSize;

void giveUpTwice(SequenceWindow& window) {
  window.giveUp();
  window.giveUp();
}

TEST(SequenceWindow, EachSequenceCountsOnce) {
  SequenceWindow window(1);
  EXPECT_EQ(window.take(1), Arrival::kDuplicate);
  EXPECT_EQ(window.take(2), Arrival::kNew);
  EXPECT_EQ(window.take(2), Arrival::kDuplicate);
  EXPECT_EQ(window.take(5), Arrival::kNew);
  EXPECT_EQ(window.missing(), 2U);
  EXPECT_EQ(window.take(4), Arrival::kNew);
  EXPECT_EQ(window.take(4), Arrival::kDuplicate);
  EXPECT_EQ(window.missing(), 1U);
  EXPECT_EQ(window.takeLost(), 0U);
}

TEST(SequenceWindow, WhatWasBeforeTheFirstIsNotMissing) {
  SequenceWindow window(5000);
  EXPECT_EQ(window.take(4999), Arrival::kDuplicate);
  EXPECT_EQ(window.take(1), Arrival::kOld);
  giveUpTwice(window);
  EXPECT_EQ(window.takeLost(), 0U);
}

TEST(SequenceWindow, AGapIsLostWhenItWasMissingForAWholeInterval) {
  SequenceWindow window(1);
  window.take(4);
  window.giveUp();
  EXPECT_EQ(window.takeLost(), 0U) << "it may still come";
  EXPECT_EQ(window.take(3), Arrival::kNew);
  window.giveUp();
  EXPECT_EQ(window.takeLost(), 1U);
  EXPECT_EQ(window.take(2), Arrival::kDuplicate) << "it was counted as lost";
  EXPECT_EQ(window.missing(), 0U);
}

TEST(SequenceWindow, AGapIsLostWhenItLeavesTheWindow) {
  SequenceWindow window(1);
  window.take(3);
  for (std::uint32_t sequence = 4; sequence <= 2 + kSize; ++sequence) window.take(sequence);
  EXPECT_EQ(window.takeLost(), 1U);
  EXPECT_EQ(window.take(2), Arrival::kOld);
}

TEST(SequenceWindow, AJumpLosesAllThatItPasses) {
  SequenceWindow window(10);
  window.take(10 + 3 * kSize);
  giveUpTwice(window);
  EXPECT_EQ(window.takeLost(), 3 * kSize - 1);
  EXPECT_EQ(window.missing(), 0U);
}

TEST(SequenceWindow, ListsWhatIsMissing) {
  SequenceWindow window(100);
  for (const std::uint32_t sequence : {103U, 104U, 106U, 110U}) window.take(sequence);
  std::array<wire::ReportRange, 4> ranges;
  ASSERT_EQ(window.missingRanges(ranges), 3U);
  EXPECT_EQ(ranges[0], (wire::ReportRange{101, 2}));
  EXPECT_EQ(ranges[1], (wire::ReportRange{105, 1}));
  EXPECT_EQ(ranges[2], (wire::ReportRange{107, 3}));
  EXPECT_EQ(window.missingRanges(std::span(ranges).first(1)), 1U);
  window.take(100 + 2 * kSize);
  ASSERT_EQ(window.missingRanges(ranges), 1U);
  EXPECT_EQ(ranges[0], (wire::ReportRange{101 + kSize, kSize - 1}));
}

TEST(SequenceWindow, SequencesWrap) {
  SequenceWindow window(0xFFFFFFFE);
  EXPECT_EQ(window.take(0xFFFFFFFF), Arrival::kNew);
  EXPECT_EQ(window.take(1), Arrival::kNew);
  EXPECT_EQ(window.missing(), 1U);
  EXPECT_EQ(window.take(0), Arrival::kNew);
  EXPECT_EQ(window.take(0xFFFFFFFF), Arrival::kDuplicate);
  giveUpTwice(window);
  EXPECT_EQ(window.takeLost(), 0U);
}

// However datagrams are lost, doubled and shuffled: those that count and those that are lost are
// all that were sent.
TEST(SequenceWindow, AccountsForEverySequence) {
  std::mt19937 random(7);
  for (int round = 0; round < 50; ++round) {
    const std::uint32_t first = random();
    SequenceWindow window(first);
    std::uint64_t taken = 1;
    std::uint64_t lost = 0;
    std::vector<std::uint32_t> held;
    std::uint32_t sequence = first;
    for (int i = 0; i < 20'000; ++i) {
      ++sequence;
      if (random() % 10 == 0) {
        held.push_back(sequence);  // late, or never
      } else {
        EXPECT_EQ(window.take(sequence), Arrival::kNew);
        ++taken;
      }
      if (!held.empty() && random() % 12 == 0) {
        const std::size_t at = random() % held.size();
        if (window.take(held[at]) == Arrival::kNew) ++taken;
        EXPECT_NE(window.take(held[at]), Arrival::kNew);
      }
      if (random() % 500 == 0) window.giveUp();
      if (random() % 3000 == 0) sequence += random() % (3 * kSize);
    }
    ++sequence;
    EXPECT_EQ(window.take(sequence), Arrival::kNew);
    ++taken;
    giveUpTwice(window);
    lost += window.takeLost();
    EXPECT_EQ(taken + lost, std::uint64_t{sequence - first} + 1) << round;
  }
}

}  // namespace
}  // namespace pingloom::translator::sequence_window_test
