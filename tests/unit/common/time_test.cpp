#include "common/time.h"

#include <gtest/gtest.h>

namespace pingloom::time_test {
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

TEST(Utc, IsIso8601) {
  EXPECT_EQ(formatUtc(1'795'230'720 * kSecond), "2026-11-21T03:12:00Z");
  EXPECT_EQ(formatUtc(1'795'230'720 * kSecond + 250 * kMillisecond), "2026-11-21T03:12:00.250Z");
  EXPECT_EQ(formatUtc(-1), "1969-12-31T23:59:59.999Z");
}

TEST(ParseUtc, ReadsWhatFormatUtcWrites) {
  for (const Nanos utc : {Nanos{0}, 1'795'230'720 * kSecond, 951'782'400 * kSecond,
                          1'795'230'720 * kSecond + 250 * kMillisecond}) {
    EXPECT_EQ(parseUtc(formatUtc(utc)).value_or(-1), utc) << formatUtc(utc);
  }
  EXPECT_EQ(parseUtc("1970-01-01T00:00:00.000000001Z").value_or(-1), 1);
  EXPECT_EQ(parseUtc("2024-02-29T23:59:59Z").value_or(-1), 1'709'251'199 * kSecond);
}

TEST(ParseUtc, TakesOffsets) {
  const Nanos utc = 1'795'230'720 * kSecond;
  for (const char* text :
       {"2026-11-21T03:12:00+00:00", "2026-11-21T03:12:00-00:00", "2026-11-21T04:12:00+01:00",
        "2026-11-20T21:42:00-05:30", "2026-11-22T03:11:00+23:59"}) {
    EXPECT_EQ(parseUtc(text).value_or(-1), utc) << text;
  }
  EXPECT_EQ(parseUtc("2026-11-21T04:12:00.25+01:00").value_or(-1), utc + 250 * kMillisecond);
  EXPECT_EQ(parseUtc("1969-12-31T23:00:00-01:00").value_or(-1), 0);
  EXPECT_FALSE(parseUtc("1970-01-01T00:00:00+00:01"));
  EXPECT_EQ(parseUtc("2199-12-31T23:59:59.999999999Z").value_or(-1), kLatestUtc);
  EXPECT_FALSE(parseUtc("2199-12-31T23:59:59-00:01"));
}

TEST(ParseInstant, TakesEveryYearAndUtcIsTheNearest) {
  EXPECT_EQ(parseInstant("0000-01-01T00:00:00Z")->utc(), 0);
  EXPECT_EQ(parseInstant("0001-01-01T00:00:00Z")->seconds, -62'135'596'800);
  EXPECT_EQ(parseInstant("9999-12-31T23:59:59Z")->seconds, 253'402'300'799);
  EXPECT_EQ(parseInstant("9999-12-31T23:59:59Z")->utc(), kLatestUtc);
  EXPECT_LT(*parseInstant("0001-01-01T00:00:00.1Z"), *parseInstant("0001-01-01T00:00:00.2Z"));
  EXPECT_FALSE(parseInstant("10000-01-01T00:00:00Z"));
}

TEST(ParseUtc, RefusesTheRest) {
  for (const char* text : {"",
                           "Z",
                           "2026-11-21",
                           "2026-11-21T03:12:00",
                           "2026-11-21 03:12:00Z",
                           "2026-11-21T03:12Z",
                           "2025-02-29T00:00:00Z",
                           "2026-13-01T00:00:00Z",
                           "2026-00-01T00:00:00Z",
                           "2026-11-21T24:00:00Z",
                           "2026-11-21T03:60:00Z",
                           "2026-11-21T03:12:60Z",
                           "2026-11-21T03:12:00.Z",
                           "2026-11-21T03:12:00.1234567890Z",
                           "2026-11-21T03:12:00,5Z",
                           "1969-12-31T23:59:59Z",
                           "2200-01-01T00:00:00Z",
                           "2026-11-21T03:12:00 01:00",
                           "2026-11-21T03:12:00+1:00",
                           "2026-11-21T03:12:00+0100",
                           "2026-11-21T03:12:00+24:00",
                           "2026-11-21T03:12:00+01:60",
                           "2026-11-21T03:12:00+01:00Z",
                           "2026-11-21T03:12:00Z+01:00",
                           "-026-11-21T03:12:00Z",
                           "now"}) {
    EXPECT_FALSE(parseUtc(text)) << text;
  }
}

}  // namespace
}  // namespace pingloom::time_test
