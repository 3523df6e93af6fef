#include "common/poll_set.h"

#include <gtest/gtest.h>
#include <sys/eventfd.h>

#include "common/fd.h"

namespace pingloom::poll_set_test {
namespace {

enum class Wake { kFirst, kSecond, kUnused, kCount };

class PollSetTest : public testing::Test {
 protected:
  PollSetTest() {
    wakes.watch(Wake::kFirst, first.get());
    wakes.watch(Wake::kSecond, second.get());
  }

  UniqueFd first{eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
  UniqueFd second{eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
  PollSet<Wake> wakes;
};

TEST_F(PollSetTest, TellsByNameWhichIsReady) {
  eventfd_write(second.get(), 1);
  ASSERT_TRUE(wakes.wait(kMinute));
  EXPECT_FALSE(wakes.ready(Wake::kFirst));
  EXPECT_TRUE(wakes.ready(Wake::kSecond));
  EXPECT_EQ(wakes.events(Wake::kSecond), POLLIN);
  EXPECT_FALSE(wakes.ready(Wake::kUnused));
}

TEST_F(PollSetTest, ReturnsWhenTheTimeHasPassedAndNoneIsReady) {
  const Nanos begin = monotonicNow();
  ASSERT_TRUE(wakes.wait(5 * kMillisecond));
  EXPECT_GE(monotonicNow() - begin, 5 * kMillisecond);
  ASSERT_TRUE(wakes.wait(-kSecond)) << "a time that has passed";
  EXPECT_FALSE(wakes.ready(Wake::kFirst));
  EXPECT_FALSE(wakes.ready(Wake::kSecond));
}

TEST_F(PollSetTest, WatchesForTheEventsItIsAskedFor) {
  wakes.watch(Wake::kFirst, first.get(), POLLIN | POLLOUT);
  ASSERT_TRUE(wakes.wait(kMinute));
  EXPECT_EQ(wakes.events(Wake::kFirst), POLLOUT);
}

TEST_F(PollSetTest, NeverFindsAMissingDescriptorReady) {
  eventfd_write(first.get(), 1);
  wakes.watch(Wake::kFirst, -1);
  ASSERT_TRUE(wakes.wait(0));
  EXPECT_FALSE(wakes.ready(Wake::kFirst));
}

}  // namespace
}  // namespace pingloom::poll_set_test
