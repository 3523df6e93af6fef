#include "common/duration.h"

#include <gtest/gtest.h>

namespace pingloom {
namespace {

TEST(Duration, ReadsEveryUnit) {
  EXPECT_EQ(*parseDuration("7ns"), 7);
  EXPECT_EQ(*parseDuration("250us"), 250'000);
  EXPECT_EQ(*parseDuration("200ms"), 200'000'000);
  EXPECT_EQ(*parseDuration("1.5s"), 1'500'000'000);
  EXPECT_EQ(*parseDuration("10m"), 10 * kMinute);
  EXPECT_EQ(*parseDuration("24h"), 24 * kHour);
  EXPECT_EQ(*parseDuration("7d"), 7 * 24 * kHour);
}

TEST(Duration, RefusesWhatIsNotOne) {
  for (const char* text :
       {"", "10", "s", "-1s", "0s", "1x", "1 s", "1e3s", "nan s", "inf", "0.1ns", "99999d"}) {
    EXPECT_FALSE(parseDuration(text)) << text;
  }
}

TEST(Duration, FormatsWhatItReads) {
  for (const char* text : {"1500ms", "10s", "2m", "24h", "7d", "1ns", "0s"}) {
    if (std::string(text) == "0s") {
      EXPECT_EQ(formatDuration(0), "0s");
    } else if (std::string(text) == "24h") {
      EXPECT_EQ(formatDuration(*parseDuration(text)), "1d");
    } else {
      EXPECT_EQ(formatDuration(*parseDuration(text)), text);
    }
  }
}

TEST(Duration, HumanFormKeepsThreeDigits) {
  EXPECT_EQ(humanNanos(812), "812 ns");
  EXPECT_EQ(humanNanos(4'070), "4.07 us");
  EXPECT_EQ(humanNanos(123'400), "123 us");
  EXPECT_EQ(humanNanos(1'200'000), "1.20 ms");
  EXPECT_EQ(humanNanos(999'600'000), "1.00 s");
}

}  // namespace
}  // namespace pingloom
