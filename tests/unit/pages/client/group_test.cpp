// Values that belong together, seen by another thread as a collector sees them.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <thread>

#include "client.h"

namespace pingloom::pages::test::group_test {
namespace {

constexpr const char* kNoAgent = "/nonexistent/pages.sock";

TEST(Group, HasOnePage) {
  Client client(kNoAgent);
  pingloom_group group;
  ASSERT_EQ(pingloom_group_make(client, &group), PINGLOOM_OK);
  EXPECT_EQ(group.page->header.flags, PINGLOOM_PAGE_GROUPED);
  for (int i = 0; i < PINGLOOM_PAGE_SLOTS; ++i) {
    client.counter("counter_" + std::to_string(i), &group);
  }
  client.counter("one_too_many", &group, PINGLOOM_FULL);
  client.counter("elsewhere");
  EXPECT_EQ(client.status().pages, 2u);
  client.counter("counter_1", nullptr, PINGLOOM_CONFLICT);
  client.counter("elsewhere", &group, PINGLOOM_CONFLICT);
}

// All values of the group are the same whenever it is whole.
TEST(Group, IsSeenWholeOrNotAtAll) {
  Client client(kNoAgent);
  pingloom_group group;
  ASSERT_EQ(pingloom_group_make(client, &group), PINGLOOM_OK);
  std::vector<pingloom_counter> counters;
  for (int i = 0; i < 64; ++i) {
    counters.push_back(client.counter("counter_" + std::to_string(i), &group));
  }
  std::atomic<bool> stop{false};
  std::thread writer([&] {
    while (!stop) {
      pingloom_group_begin(group);
      for (const auto& counter : counters) pingloom_counter_add(counter, 1);
      pingloom_group_commit(group);
      std::this_thread::sleep_for(std::chrono::microseconds(20));  // readers need whole moments
    }
  });
  const std::uint64_t* sequence = &group.page->header.sequence;
  std::size_t whole = 0;
  std::uint64_t last = 0;
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  while (whole < 2'000 && std::chrono::steady_clock::now() < deadline) {
    const std::uint64_t before = __atomic_load_n(sequence, __ATOMIC_ACQUIRE);
    if (before % 2 == 1) continue;
    std::uint64_t lowest = UINT64_MAX, highest = 0;
    // Backwards: a torn read would show. Acquire keeps the second look at the sequence behind.
    for (int i = 63; i >= 0; --i) {
      const std::uint64_t value = __atomic_load_n(counters[i].slot, __ATOMIC_ACQUIRE);
      lowest = std::min(lowest, value);
      highest = std::max(highest, value);
    }
    if (__atomic_load_n(sequence, __ATOMIC_RELAXED) != before) continue;
    ++whole;
    ASSERT_EQ(lowest, highest);
    ASSERT_GE(lowest, last);
    last = lowest;
  }
  stop = true;
  writer.join();
  EXPECT_GT(whole, 0u);
  EXPECT_EQ(*sequence, 2 * *counters[0].slot);
}

}  // namespace
}  // namespace pingloom::pages::test::group_test
