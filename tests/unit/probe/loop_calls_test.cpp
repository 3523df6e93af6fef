#include "probe/loop_calls.h"

#include <gtest/gtest.h>
#include <poll.h>

#include <thread>

namespace pingloom::probe::loop_calls_test {
namespace {

TEST(LoopCalls, RunsOnTheLoopsThreadAndWaits) {
  LoopCalls calls;
  bool stop = false;
  std::thread loop([&] {
    while (!stop) {
      pollfd ready{calls.descriptor(), POLLIN, 0};
      poll(&ready, 1, -1);
      calls.run();
    }
    calls.close();
  });
  std::thread::id ran_on;
  EXPECT_TRUE(calls.call([&] { ran_on = std::this_thread::get_id(); }));
  EXPECT_EQ(ran_on, loop.get_id());
  int sum = 0;
  std::thread other([&] {
    for (int i = 0; i < 1000; ++i) calls.call([&] { ++sum; });
  });
  for (int i = 0; i < 1000; ++i) calls.call([&] { ++sum; });
  other.join();
  EXPECT_EQ(sum, 2000);
  calls.call([&] { stop = true; });
  loop.join();
  EXPECT_FALSE(calls.call([&] { ++sum; })) << "the loop has ended";
  EXPECT_EQ(sum, 2000);
}

}  // namespace
}  // namespace pingloom::probe::loop_calls_test
