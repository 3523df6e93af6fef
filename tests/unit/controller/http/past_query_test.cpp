#include "controller/http/past_query.h"

#include <gmock/gmock.h>

namespace pingloom::controller::api::past_query_test {
namespace {

using Query = std::map<std::string, std::string>;

tl::expected<TimeRange, http::Response> rangeOf(Query query) {
  http::Request request;
  request.query = std::move(query);
  return rangeOption(request);
}

TEST(PastQuery, ARangeIsReadInAnyZone) {
  const auto range =
      rangeOf({{"from", "2026-11-21T03:12:00Z"}, {"to", "2026-11-21T05:12:00.5+01:00"}});
  ASSERT_TRUE(range);
  EXPECT_EQ(formatUtc(range->from_utc), "2026-11-21T03:12:00Z");
  EXPECT_EQ(formatUtc(range->until_utc), "2026-11-21T04:12:00.500Z");
}

TEST(PastQuery, ARangeIsCutToWhatTimesReach) {
  auto range = rangeOf({{"from", "0001-01-01T00:00:00Z"}, {"to", "9999-12-31T23:59:59Z"}});
  ASSERT_TRUE(range);
  EXPECT_EQ(range->from_utc, 0);
  EXPECT_EQ(range->until_utc, kLatestUtc);
  range = rangeOf({{"to", "9999-12-31T23:59:59Z"}});
  ASSERT_TRUE(range);
  EXPECT_EQ(range->from_utc, kLatestUtc - kDefaultPast);
}

TEST(PastQuery, ARangeBeyondWhatTimesReachIsNotEmpty) {
  for (const Query& query :
       {Query{{"from", "8000-01-01T00:00:00Z"}, {"to", "9000-01-01T00:00:00Z"}},
        Query{{"from", "0000-01-01T00:00:00Z"}, {"to", "0001-01-01T00:00:00Z"}},
        Query{{"to", "0001-01-01T00:00:00Z"}}}) {
    const auto range = rangeOf(query);
    ASSERT_TRUE(range) << range.error().body;
    EXPECT_LT(range->from_utc, range->until_utc);
  }
}

TEST(PastQuery, ARangeThatEndsBeforeItBeginsIsRefused) {
  for (const Query& query :
       {Query{{"from", "9000-01-01T00:00:00Z"}, {"to", "8000-01-01T00:00:00Z"}},
        Query{{"from", "0001-01-01T00:00:00Z"}, {"to", "0000-01-01T00:00:00Z"}},
        Query{{"from", "2026-11-21T03:12:00Z"}, {"to", "2026-11-21T03:12:00Z"}},
        Query{{"from", "2026-11-21T03:12:00Z"}, {"to", "2026-11-21T03:12:00+01:00"}},
        Query{{"from", "9999-12-31T23:59:59Z"}}}) {
    const auto range = rangeOf(query);
    ASSERT_FALSE(range);
    EXPECT_EQ(range.error().status, 400U);
  }
}

TEST(PastQuery, WhatIsNoTimeIsRefusedByName) {
  const auto range =
      rangeOf({{"from", "2026-11-21T03:12:00 01:00"}});  // a '+' that was not escaped
  ASSERT_FALSE(range);
  EXPECT_THAT(range.error().body, testing::HasSubstr("the parameter 'from'"));
}

}  // namespace
}  // namespace pingloom::controller::api::past_query_test
