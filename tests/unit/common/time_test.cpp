#include "common/time.h"

#include <gtest/gtest.h>

#include <array>
#include <ctime>
#include <random>

namespace pingloom::time_test {
namespace {

TEST(Utc, IsIso8601) {
  EXPECT_EQ(formatUtc(1'795'230'720 * kSecond), "2026-11-21T03:12:00Z");
  EXPECT_EQ(formatUtc(1'795'230'720 * kSecond + 250 * kMillisecond), "2026-11-21T03:12:00.250Z");
  EXPECT_EQ(formatUtc(-1), "1969-12-31T23:59:59.999Z");
  EXPECT_EQ(formatUtc(kMillisecond), "1970-01-01T00:00:00.001Z");
}

TEST(Utc, IsTheDateThatTheSystemLibraryKnows) {
  std::mt19937_64 random(5);
  for (int i = 0; i < 20'000; ++i) {
    // Seconds to the year 2260: every leap day until then is near one of them.
    const auto seconds = static_cast<std::time_t>(random() % 9'151'488'000);
    std::tm parts{};
    gmtime_r(&seconds, &parts);
    std::array<char, 32> expected;
    std::strftime(expected.data(), expected.size(), "%FT%TZ", &parts);
    ASSERT_EQ(formatUtc(seconds * kSecond), expected.data());
  }
  EXPECT_EQ(formatUtc(951'782'400 * kSecond), "2000-02-29T00:00:00Z");
  EXPECT_EQ(formatUtc(4'107'542'400 * kSecond), "2100-03-01T00:00:00Z");
}

TEST(Utc, IsAppended) {
  std::string out = "at ";
  appendUtc(out, 0);
  EXPECT_EQ(out, "at 1970-01-01T00:00:00Z");
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

TEST(ParseCalendarTime, TakesEveryYearAndUtcIsTheNearest) {
  EXPECT_EQ(parseCalendarTime("0000-01-01T00:00:00Z")->utc(), 0);
  EXPECT_EQ(parseCalendarTime("0001-01-01T00:00:00Z")->seconds, -62'135'596'800);
  EXPECT_EQ(parseCalendarTime("9999-12-31T23:59:59Z")->seconds, 253'402'300'799);
  EXPECT_EQ(parseCalendarTime("9999-12-31T23:59:59Z")->utc(), kLatestUtc);
  EXPECT_LT(*parseCalendarTime("0001-01-01T00:00:00.1Z"),
            *parseCalendarTime("0001-01-01T00:00:00.2Z"));
  EXPECT_FALSE(parseCalendarTime("10000-01-01T00:00:00Z"));
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
