#include "pages/schema.h"

#include <gtest/gtest.h>

#include <limits>

#include "pages/registration.h"
#include "raw_metric.h"

namespace pingloom::pages::schema_test {
namespace {

using test::Raw;
using test::rawBounded;
using test::rawHistogram;
using test::RawMetric;
using test::rawSummary;
using test::together;

std::optional<Metric> read(const RawMetric& raw) {
  const Raw bytes = raw.bytes();
  Bytes left(bytes);
  auto metric = readMetric(left);
  return metric && left.empty() ? metric : std::nullopt;
}

TEST(Schema, ReadsWhatItSays) {
  RawMetric raw = rawHistogram("latency_seconds", 8);
  raw.unit = 1e-9;
  raw.help =
      "How long \"it\" took, in s\xC3\xA9"
      "condes";
  raw.labels = {{"path", "/a b"}, {"code", ""}};
  const auto metric = read(raw);
  ASSERT_TRUE(metric);
  EXPECT_EQ(metric->kind, PINGLOOM_HISTOGRAM);
  EXPECT_EQ(metric->first_slot, 8);
  EXPECT_EQ(metric->slots, 7);
  EXPECT_EQ(metric->unit, 1e-9);
  EXPECT_EQ(metric->name, "latency_seconds");
  EXPECT_EQ(metric->help, raw.help);
  EXPECT_EQ(metric->labels, (Labels{{"path", "/a b"}, {"code", ""}}));
}

TEST(Schema, ReadsBoundsOfAHistogram) {
  const auto metric = read(rawBounded("wait_seconds", {-1, 0.005, 0.01, 1e300}));
  ASSERT_TRUE(metric);
  EXPECT_EQ(metric->slots, 6);
  EXPECT_EQ(metric->bounds, (std::vector<double>{-1, 0.005, 0.01, 1e300}));
  EXPECT_EQ(upperBound(*metric, UnitScale(1e-9), 1), 0.005) << "bounds have the name's own unit";
  EXPECT_EQ(upperBound(*read(rawHistogram("h")), UnitScale(1e-3), 1), 0.006);
}

TEST(Schema, ReadsQuantilesOfASummary) {
  const auto metric = read(rawSummary("wait_seconds", {0, 0.5, 0.999, 1}));
  ASSERT_TRUE(metric);
  EXPECT_EQ(metric->kind, PINGLOOM_SUMMARY);
  EXPECT_EQ(metric->slots, 6);
  EXPECT_EQ(metric->quantiles, (std::vector<double>{0, 0.5, 0.999, 1}));
  EXPECT_FALSE(metric->bounded());
  EXPECT_EQ(name(metric->kind), "summary");
  EXPECT_TRUE(read(rawSummary("without_quantiles", {})));
  RawMetric without_list = rawSummary("without_list", {});
  without_list.flags = 0;
  EXPECT_TRUE(read(without_list));
  RawMetric gauge{.kind = PINGLOOM_GAUGE, .labels = {{"quantile", "0.5"}}};
  EXPECT_TRUE(read(gauge)) << "other kinds may have that label";
}

TEST(Schema, ExemplarsFollowTheSlots) {
  RawMetric raw = rawHistogram("latency_seconds", 8);
  EXPECT_EQ(read(raw)->allSlots(), 7U);
  raw.flags = kExemplars;
  const auto metric = read(raw);
  ASSERT_TRUE(metric);
  EXPECT_TRUE(metric->exemplars);
  EXPECT_EQ(metric->slots, 7) << "which is all that a reader without exemplars knows of";
  EXPECT_EQ(metric->allSlots(), 7U + 64);
  const auto counter = read(RawMetric{.flags = kExemplars});
  ASSERT_TRUE(counter);
  EXPECT_EQ(counter->allSlots(), 17U);
  EXPECT_TRUE(read(RawMetric{.first = 504 - 17, .flags = kExemplars}));
}

TEST(Schema, AGaugeThatOnlyGrowsIsACounterWithFractions) {
  const auto metric = read(RawMetric{.kind = PINGLOOM_GAUGE, .flags = kFractions});
  ASSERT_TRUE(metric);
  EXPECT_EQ(metric->kind, PINGLOOM_COUNTER);
  EXPECT_TRUE(metric->fractions);
  const auto with_exemplars =
      read(RawMetric{.kind = PINGLOOM_GAUGE, .flags = kFractions | kFractionsExemplars});
  ASSERT_TRUE(with_exemplars);
  EXPECT_EQ(with_exemplars->allSlots(), 17U);
  const auto counter = read(RawMetric{.flags = kFractions});
  ASSERT_TRUE(counter);
  EXPECT_FALSE(counter->fractions) << "other kinds have no such flag";
  EXPECT_FALSE(read(RawMetric{.kind = PINGLOOM_GAUGE, .unit = 1e-9, .flags = kFractions}));
}

TEST(Schema, RefusesMetricsThatAreNone) {
  struct Case {
    const char* what;
    void (*spoil)(RawMetric&);
  };
  const Case cases[] = {
      {"kind 0", [](RawMetric& m) { m.kind = 0; }},
      {"kind 6", [](RawMetric& m) { m.kind = 6; }},
      {"kind 255", [](RawMetric& m) { m.kind = 255; }},
      {"a counter without a slot", [](RawMetric& m) { m.slots = 0; }},
      {"a counter of two slots", [](RawMetric& m) { m.slots = 2; }},
      {"a gauge of two slots", [](RawMetric& m) { m.kind = PINGLOOM_GAUGE, m.slots = 2; }},
      {"an info with a slot", [](RawMetric& m) { m.kind = PINGLOOM_INFO; }},
      {"a slot behind the page", [](RawMetric& m) { m.first = 504; }},
      {"slots that wrap around", [](RawMetric& m) { m.first = 65535; }},
      {"a histogram of too few slots", [](RawMetric& m) { m = rawHistogram("h"), m.slots = 6; }},
      {"a histogram of too many slots", [](RawMetric& m) { m = rawHistogram("h"), m.slots = 8; }},
      {"a histogram half behind the page", [](RawMetric& m) { m = rawHistogram("h", 500); }},
      {"precision above lowest", [](RawMetric& m) { m = rawHistogram("h"), m.precision = 3; }},
      {"no octave", [](RawMetric& m) { m = rawHistogram("h"), m.highest = 2; }},
      {"highest below lowest", [](RawMetric& m) { m = rawHistogram("h"), m.highest = 1; }},
      {"highest 64", [](RawMetric& m) { m = rawHistogram("h"), m.highest = 64; }},
      {"precision 6",
       [](RawMetric& m) {
         m = rawHistogram("h"), m.lowest = 10, m.highest = 11, m.precision = 6, m.slots = 67;
       }},
      {"no bounds", [](RawMetric& m) { m = rawBounded("h", {}); }},
      {"equal bounds",
       [](RawMetric& m) {
         m = rawBounded("h", {1, 1});
       }},
      {"falling bounds",
       [](RawMetric& m) {
         m = rawBounded("h", {2, 1});
       }},
      {"an infinite bound",
       [](RawMetric& m) {
         m = rawBounded("h", {1, std::numeric_limits<double>::infinity()});
       }},
      {"a bound that is NaN",
       [](RawMetric& m) { m = rawBounded("h", {std::numeric_limits<double>::quiet_NaN()}); }},
      {"fewer slots than bounds",
       [](RawMetric& m) {
         m = rawBounded("h", {1, 2}), m.slots = 3;
       }},
      {"a counter with bounds",
       [](RawMetric& m) { m = rawBounded("h", {1}), m.kind = PINGLOOM_COUNTER, m.slots = 1; }},
      {"more bounds than slots of a page",
       [](RawMetric& m) {
         m = rawBounded("h", {});
         for (int i = 0; i < 503; ++i) m.bounds.push_back(i);
         m.slots = 505;
       }},
      {"a quantile above 1", [](RawMetric& m) { m = rawSummary("s", {1.001}); }},
      {"a quantile below 0", [](RawMetric& m) { m = rawSummary("s", {-0.001}); }},
      {"a quantile that is NaN",
       [](RawMetric& m) { m = rawSummary("s", {std::numeric_limits<double>::quiet_NaN()}); }},
      {"equal quantiles",
       [](RawMetric& m) {
         m = rawSummary("s", {0.5, 0.5});
       }},
      {"more quantiles than there may be",
       [](RawMetric& m) {
         m = rawSummary("s", {});
         for (int i = 0; i < 33; ++i) m.bounds.push_back(i / 100.0);
         m.slots = 35;
       }},
      {"fewer slots than quantiles", [](RawMetric& m) { m = rawSummary("s", {0.5}), m.slots = 2; }},
      {"a summary without a sum",
       [](RawMetric& m) { m = rawSummary("s", {}), m.flags = 0, m.slots = 1; }},
      {"a summary with a label that is its own",
       [](RawMetric& m) {
         m = rawSummary("s", {0.5});
         m.labels = {{"quantile", "0.9"}};
       }},
      {"a gauge with quantiles",
       [](RawMetric& m) { m = rawSummary("s", {}), m.kind = PINGLOOM_GAUGE, m.slots = 1; }},
      {"a gauge with exemplars",
       [](RawMetric& m) { m.kind = PINGLOOM_GAUGE, m.flags = kExemplars; }},
      {"an info with exemplars",
       [](RawMetric& m) { m.kind = PINGLOOM_INFO, m.slots = 0, m.flags = kExemplars; }},
      {"a summary with exemplars",
       [](RawMetric& m) { m = rawSummary("s", {0.5}), m.flags = kBounds | kExemplars; }},
      {"exemplars behind the page", [](RawMetric& m) { m.first = 504 - 16, m.flags = kExemplars; }},
      {"unit 0", [](RawMetric& m) { m.unit = 0; }},
      {"unit -1", [](RawMetric& m) { m.unit = -1; }},
      {"unit NaN", [](RawMetric& m) { m.unit = std::numeric_limits<double>::quiet_NaN(); }},
      {"unit infinite", [](RawMetric& m) { m.unit = std::numeric_limits<double>::infinity(); }},
      {"unit whose bounds become infinite", [](RawMetric& m) { m.unit = 1e300; }},
      {"unit whose bounds become 0", [](RawMetric& m) { m.unit = 1e-320; }},
      {"no name", [](RawMetric& m) { m.name = ""; }},
      {"a name with a digit first", [](RawMetric& m) { m.name = "1m"; }},
      {"a name with a blank", [](RawMetric& m) { m.name = "a b"; }},
      {"a name with a newline", [](RawMetric& m) { m.name = "a\n"; }},
      {"a name that is UTF-8", [](RawMetric& m) { m.name = "\xC3\xA9"; }},
      {"a name too long", [](RawMetric& m) { m.name = std::string(129, 'a'); }},
      {"help with a newline", [](RawMetric& m) { m.help = "a\nb"; }},
      {"help that is not UTF-8", [](RawMetric& m) { m.help = "\xFF"; }},
      {"help too long", [](RawMetric& m) { m.help = std::string(513, 'a'); }},
      {"a label with a colon",
       [](RawMetric& m) {
         m.labels = {{"a:b", ""}};
       }},
      {"a label without a name",
       [](RawMetric& m) {
         m.labels = {{"", "x"}};
       }},
      {"a label of Prometheus' own",
       [](RawMetric& m) {
         m.labels = {{"__name__", "x"}};
       }},
      {"a label that is a bucket's",
       [](RawMetric& m) {
         m.labels = {{"le", "1"}};
       }},
      {"a label twice",
       [](RawMetric& m) {
         m.labels = {{"a", "1"}, {"a", "2"}};
       }},
      {"a value with a zero",
       [](RawMetric& m) {
         m.labels = {{"a", std::string(1, '\0')}};
       }},
      {"a value too long",
       [](RawMetric& m) {
         m.labels = {{"a", std::string(257, 'x')}};
       }},
      {"a value half a character",
       [](RawMetric& m) {
         m.labels = {{"a", "\xE2\x82"}};
       }},
      {"labels too many",
       [](RawMetric& m) {
         for (char c = 'a'; c <= 'q'; ++c) m.labels.emplace_back(std::string(1, c), "");
       }},
  };
  ASSERT_TRUE(read(RawMetric{}));
  for (const Case& one : cases) {
    RawMetric raw;
    one.spoil(raw);
    EXPECT_FALSE(read(raw)) << one.what;
  }
}

TEST(Schema, NoBeginningOfOneIsOne) {
  RawMetric raw = rawHistogram("latency_seconds");
  raw.help = "help";
  raw.labels = {{"a", "value"}, {"b", "other"}};
  const Raw whole = raw.bytes();
  for (std::size_t size = 1; size < whole.size(); ++size) {
    EXPECT_FALSE(readSchema(std::span(whole).first(size))) << size;
  }
  EXPECT_TRUE(readSchema(whole));
}

TEST(Schema, SlotsOfAPageDoNotOverlap) {
  RawMetric first{.first = 3};
  RawMetric second{.first = 4, .name = "b"};
  EXPECT_TRUE(readSchema(together({first, second})));
  EXPECT_TRUE(readSchema(together({second, first}))) << "in any order";
  EXPECT_FALSE(readSchema(together({first, first})));
  EXPECT_FALSE(readSchema(together({rawHistogram("h"), second})));
  EXPECT_FALSE(readSchema(together({second, rawHistogram("h")})));
  RawMetric before{.kind = PINGLOOM_INFO, .first = 2, .slots = 0};
  EXPECT_TRUE(readSchema(together({first, before}))) << "an info has no slots";
}

TEST(Schema, InfosAndBytesOfAPageAreBounded) {
  std::vector<RawMetric> infos(kMaxInfos, RawMetric{.kind = PINGLOOM_INFO, .slots = 0});
  EXPECT_TRUE(readSchema(together(infos)));
  infos.push_back(infos.back());
  EXPECT_FALSE(readSchema(together(infos)));
  EXPECT_FALSE(readSchema(Raw(kMaxSchemaBytes + 1)));
}

}  // namespace
}  // namespace pingloom::pages::schema_test
