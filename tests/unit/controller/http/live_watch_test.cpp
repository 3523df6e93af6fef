#include "controller/http/live_watch.h"

#include <gtest/gtest.h>

namespace pingloom::controller::live_watch_test {
namespace {

TEST(LiveWatchTest, NamesAProbeAndAMetric) {
  const auto watch = parseLiveWatch("watch rack loss");
  ASSERT_TRUE(watch);
  EXPECT_EQ(watch->probe, "rack");
  EXPECT_TRUE(watch->metric.isRatio());
  EXPECT_EQ(watch->epoch, "");
}

TEST(LiveWatchTest, SaysWhatItWasInSyncWith) {
  const auto watch = parseLiveWatch("watch rack network_p50 17 3 42");
  ASSERT_TRUE(watch);
  EXPECT_EQ(watch->epoch, "17");
  EXPECT_EQ(watch->generation, 3U);
  EXPECT_EQ(watch->sequence, 42U);
}

TEST(LiveWatchTest, AnythingElseIsRefused) {
  for (const char* message :
       {"", "watch", "watch rack", "watch rack colour", "look rack loss", "watch rack loss 17",
        "watch rack loss 17 3", "watch rack loss 17 x 42", "watch rack loss 17 3 42 more",
        "watch rack loss 17 3 99999999999"}) {
    EXPECT_FALSE(parseLiveWatch(message)) << message;
  }
  EXPECT_FALSE(parseLiveWatch("watch " + std::string(300, 'a') + " loss"));
}

}  // namespace
}  // namespace pingloom::controller::live_watch_test
