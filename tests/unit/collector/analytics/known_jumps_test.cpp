#include "collector/analytics/known_jumps.h"

#include <gtest/gtest.h>

#include <string>

namespace pingloom::collector::analytics::known_jumps_test {
namespace {

constexpr std::int64_t kDay = 1440;
constexpr std::int64_t kTwo = 120;

// A jump of so many samples, and what comes after it.
void jump(KnownJumps& jumps, std::int64_t minute, double size, int samples = 30) {
  for (int i = 0; i < samples; ++i) jumps.observe(minute + i / 60, size, 2);
  for (int i = 1; i < 10; ++i) jumps.observe(minute + i, 0, 0.5);
}

TEST(KnownJumps, areKnownFromTheFourthDayOn) {
  KnownJumps jumps;
  for (std::int64_t day = 0; day < 3; ++day) {
    EXPECT_EQ(jumps.at(day * kDay + kTwo).highest, 0) << day;
    jump(jumps, day * kDay + kTwo + day * 3, 4);
  }
  const LoadJumps known = jumps.at(3 * kDay + kTwo);
  EXPECT_NEAR(known.highest, 6, 0.5);
  EXPECT_EQ(known.lowest, 0);
  EXPECT_EQ(jumps.at(3 * kDay + kTwo + 60).highest, 0) << "at another time";
  EXPECT_GT(jumps.at(5 * kDay + kTwo).highest, 0);
  EXPECT_EQ(jumps.at(12 * kDay + kTwo).highest, 0) << "it is forgotten";
}

TEST(KnownJumps, onlyRegularOnesBecomeKnown) {
  KnownJumps jumps;
  for (const std::int64_t day : {0, 5, 10, 15}) jump(jumps, day * kDay + kTwo, 4);
  EXPECT_EQ(jumps.at(16 * kDay + kTwo).highest, 0);
  KnownJumps weekly;
  for (const std::int64_t day : {0, 7, 14}) jump(weekly, day * kDay + kTwo, 4);
  EXPECT_GT(weekly.at(21 * kDay + kTwo).highest, 0);
  KnownJumps short_ones;
  for (std::int64_t day = 0; day < 5; ++day) jump(short_ones, day * kDay + kTwo, 4, 4);
  EXPECT_EQ(short_ones.at(5 * kDay + kTwo).highest, 0);
}

TEST(KnownJumps, anOutageAtTheTimeOfAJobIsNotTheJob) {
  KnownJumps jumps;
  for (std::int64_t day = 0; day < 4; ++day) jump(jumps, day * kDay + kTwo, -2);
  jump(jumps, 4 * kDay + kTwo, -9);
  const LoadJumps known = jumps.at(5 * kDay + kTwo);
  EXPECT_NEAR(known.lowest, -3, 0.1);
  EXPECT_EQ(known.highest, 0);
}

TEST(KnownJumps, haveToBeAboutAsLargeToBecomeKnown) {
  KnownJumps jumps;
  jump(jumps, kTwo, 6);
  jump(jumps, kDay + kTwo, 6);
  jump(jumps, 2 * kDay + kTwo, 40);
  EXPECT_EQ(jumps.at(3 * kDay + kTwo).highest, 0);
}

TEST(KnownJumps, areBoundedAndKeepWhatIsKnown) {
  KnownJumps jumps;
  for (std::int64_t day = 0; day < 4; ++day) {
    jump(jumps, day * kDay + kTwo, 4);
    for (std::int64_t i = 1; i < 20; ++i) jump(jumps, day * kDay + kTwo + i * (31 + day), 3);
  }
  EXPECT_GT(jumps.at(4 * kDay + kTwo).highest, 0);
}

TEST(KnownJumps, areWrittenAndRead) {
  KnownJumps jumps;
  for (std::int64_t day = 0; day < 4; ++day) jump(jumps, day * kDay + kTwo, 4);
  std::string bytes;
  StateArchive writer(bytes);
  writer(jumps);
  KnownJumps read;
  StateArchive reader(std::string_view{bytes});
  reader(read);
  EXPECT_TRUE(reader.ok());
  EXPECT_EQ(read.at(4 * kDay + kTwo).highest, jumps.at(4 * kDay + kTwo).highest);
}

}  // namespace
}  // namespace pingloom::collector::analytics::known_jumps_test
