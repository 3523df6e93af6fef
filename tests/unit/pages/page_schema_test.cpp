#include "pages/page_schema.h"

#include <gtest/gtest.h>

#include "raw_metric.h"

namespace pingloom::pages::page_schema_test {
namespace {

using test::Raw;
using test::rawHistogram;
using test::RawMetric;
using test::together;

class PageSchemaTest : public testing::Test {
 protected:
  // The reason for a refusal, or "".
  std::string define(const RawMetric& metric) {
    const Raw bytes = metric.bytes();
    auto checked = schema.check(bytes, now);
    if (!checked) return checked.error().text;
    schema.add(*checked, bytes);
    return "";
  }
  bool remove(const RawMetric& metric) { return schema.remove(metric.bytes(), now).has_value(); }

  PageSchema schema;
  Nanos now = kSecond;
};

TEST_F(PageSchemaTest, WhatIsLeftIsTheSchema) {
  const RawMetric first{.name = "a"};
  const RawMetric second = rawHistogram("b", 1);
  const RawMetric third{.first = 8, .name = "c"};
  for (const auto& metric : {first, second, third}) EXPECT_EQ(define(metric), "");
  EXPECT_EQ(schema.bytes(), together({first, second, third}));
  EXPECT_TRUE(remove(second));
  EXPECT_EQ(schema.bytes(), together({first, third}));
  EXPECT_EQ(schema.metrics(), 2U);
  EXPECT_EQ(schema.version(), 4U);
  EXPECT_FALSE(remove(second)) << "twice";
  EXPECT_FALSE(remove(RawMetric{.name = "c"})) << "at another slot";
  EXPECT_EQ(schema.version(), 4U);
  EXPECT_TRUE(remove(third));
  EXPECT_TRUE(remove(first));
  EXPECT_TRUE(schema.bytes().empty());
}

TEST_F(PageSchemaTest, SlotsRestBeforeOthersHaveThem) {
  EXPECT_EQ(define(rawHistogram("old", 3)), "");
  EXPECT_TRUE(remove(rawHistogram("old", 3)));
  now += PageSchema::kRest - 1;
  for (const std::uint16_t slot : {3, 6, 9}) {
    EXPECT_EQ(define({.first = slot, .name = "new"}),
              "new: its slots were another metric's a moment ago");
  }
  EXPECT_EQ(define({.first = 2, .name = "before"}), "");
  EXPECT_EQ(define({.first = 10, .name = "after"}), "");
  ++now;
  EXPECT_EQ(define(rawHistogram("new", 3)), "");
  EXPECT_EQ(define({.first = 9, .name = "x"}), "x: its slots are another metric's");
}

TEST_F(PageSchemaTest, SlotsOfExemplarsAreTheMetrics) {
  const RawMetric counter{.name = "a", .flags = kExemplars};
  EXPECT_EQ(define(counter), "");
  EXPECT_EQ(define({.first = 16, .name = "b"}), "b: its slots are another metric's");
  EXPECT_EQ(define({.first = 17, .name = "c"}), "");
  EXPECT_TRUE(remove(counter));
  EXPECT_EQ(define({.first = 16, .name = "b"}), "b: its slots were another metric's a moment ago");
  now += PageSchema::kRest;
  EXPECT_EQ(define({.first = 16, .name = "b"}), "");
}

TEST_F(PageSchemaTest, InfosAreBoundedByThoseThatAreLeft) {
  RawMetric info{.kind = PINGLOOM_INFO, .slots = 0};
  for (std::size_t i = 0; i < kMaxInfos; ++i) {
    info.name = "i" + std::to_string(i);
    EXPECT_EQ(define(info), "");
  }
  RawMetric more = info;
  more.name = "more";
  EXPECT_EQ(define(more), "more: too many infos on one page");
  const auto had_slots = schema.remove(info.bytes(), now);
  ASSERT_TRUE(had_slots);
  EXPECT_FALSE(*had_slots);
  EXPECT_EQ(define(more), "") << "there is nothing that would have to rest";
}

}  // namespace
}  // namespace pingloom::pages::page_schema_test
