#include "probe/window_queue.h"

#include <gtest/gtest.h>
#include <poll.h>

#include <thread>

namespace pingloom::probe::window_queue_test {
namespace {

ClosedWindow windowOf(std::uint64_t index, std::size_t pairs = 1) {
  ClosedWindow window;
  window.index = index;
  window.pairs.resize(pairs);
  return window;
}

bool readable(const WindowQueue& queue) {
  pollfd entry{queue.descriptor(), POLLIN, 0};
  return poll(&entry, 1, 0) == 1;
}

TEST(WindowQueue, HandsOverInOrderAndTells) {
  WindowQueue queue;
  EXPECT_FALSE(readable(queue));
  queue.push(windowOf(1));
  queue.push(windowOf(2));
  EXPECT_TRUE(readable(queue));
  const auto taken = queue.takeAll();
  ASSERT_EQ(taken.size(), 2U);
  EXPECT_EQ(taken[0].index, 1U);
  EXPECT_EQ(taken[1].index, 2U);
  EXPECT_FALSE(readable(queue));
  EXPECT_TRUE(queue.takeAll().empty());
}

TEST(WindowQueue, DropsWhatNobodyTakes) {
  WindowQueue queue;
  for (std::uint64_t second = 0; second < 100; ++second) {
    queue.push(windowOf(second), static_cast<Nanos>(second) * kSecond);
  }
  const auto taken = queue.takeAll();
  ASSERT_EQ(taken.size(), 31U);
  EXPECT_EQ(taken.front().index, 69U);
  EXPECT_EQ(queue.dropped(), 69U);
}

TEST(WindowQueue, KeepsBoundedSpareMemory) {
  WindowQueue queue;
  constexpr std::size_t kSize = WindowQueue::kMaxSparePairs / 3;
  std::vector<const PairWindow*> kept;
  for (int i = 0; i < 5; ++i) {
    std::vector<PairWindow> set(kSize);
    if (i < 3) kept.push_back(set.data());
    queue.recycle(std::move(set));
  }
  std::size_t reused = 0;
  std::vector<std::vector<PairWindow>> out;
  for (int i = 0; i < 5; ++i) {
    out.push_back(queue.spare(kSize));
    reused += static_cast<std::size_t>(std::count(kept.begin(), kept.end(), out.back().data()));
  }
  EXPECT_EQ(reused, 3U);
}

TEST(WindowQueue, SparesAreClearedAndOfTheSizeWanted) {
  WindowQueue queue;
  std::vector<PairWindow> big(50);
  std::vector<PairWindow> small(4);
  small[3].sent = 9;
  small[3].addNetwork(5);
  small[3].addNetwork(9);
  const PairWindow* memory = small.data();
  queue.recycle(std::move(big));
  queue.recycle(std::move(small));
  const auto got = queue.spare(4);
  EXPECT_EQ(got.data(), memory) << "the set of the same size";
  EXPECT_EQ(got[3].sent, 0U);
  EXPECT_EQ(got[3].jitter_count, 0U);
  EXPECT_EQ(got[3].network.count(), 0U);
  EXPECT_EQ(queue.spare(70).size(), 70U);
  EXPECT_EQ(queue.spare(7).size(), 7U);
}

TEST(WindowQueue, PassesBetweenThreads) {
  WindowQueue queue;
  std::thread producer([&] {
    for (std::uint64_t i = 0; i < 2000; ++i) queue.push(windowOf(i, queue.spare(3).size()));
  });
  std::uint64_t next = 0;
  while (next < 2000) {
    pollfd entry{queue.descriptor(), POLLIN, 0};
    ASSERT_EQ(poll(&entry, 1, 10'000), 1);
    for (ClosedWindow& window : queue.takeAll()) {
      EXPECT_EQ(window.index, next++);
      queue.recycle(std::move(window.pairs));
    }
  }
  producer.join();
}

TEST(PairWindow, JitterIsTheMeanDifferenceOfConsecutiveTimes) {
  PairWindow pair;
  for (const Nanos network : {100, 130, 120}) pair.addNetwork(network);
  EXPECT_EQ(pair.jitter_count, 2U);
  EXPECT_EQ(pair.jitter_sum, 40U);
  EXPECT_EQ(pair.network.count(), 3U);
}

}  // namespace
}  // namespace pingloom::probe::window_queue_test
