#include "http/media_type.h"

#include <gtest/gtest.h>

namespace pingloom::http::accept_test::media_type_test {
namespace {

bool csv(std::string_view accept) { return prefers(accept, "text/csv", "application/json"); }

TEST(Accept, WhatIsNamedIsPreferred) {
  EXPECT_TRUE(csv("text/csv"));
  EXPECT_TRUE(csv("Text/CSV; charset=utf-8"));
  EXPECT_TRUE(csv("text/*"));
  EXPECT_TRUE(csv("text/html, text/csv;q=0.2"));
  EXPECT_FALSE(csv(""));
  EXPECT_FALSE(csv("*/*"));
  EXPECT_FALSE(csv("application/json"));
  EXPECT_FALSE(csv("image/png"));
}

TEST(Accept, WeightsCountBeforeExactness) {
  EXPECT_TRUE(csv("application/json;q=0.5, text/csv;q=0.75"));
  EXPECT_FALSE(csv("application/json, text/csv;q=0.999"));
  EXPECT_FALSE(csv("application/json,text/csv")) << "as if neither were asked for";
  EXPECT_TRUE(csv("*/*, text/csv")) << "it names it";
  EXPECT_FALSE(csv("*/*;q=0.8, text/csv;q=0.1"));
  EXPECT_FALSE(csv("text/*, text/csv;q=0"));
  EXPECT_FALSE(csv("text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8")) << "a page";
}

TEST(Accept, WhatIsMalformedIsSkipped) {
  for (const char* accept : {",,;", "text", "text/", "/", "*", "text/csv;q=", "text/csv;q=x",
                             "text/csv;q=2", "text/csv;q=0.x", ";q=1"}) {
    EXPECT_FALSE(csv(accept)) << accept;
  }
  EXPECT_TRUE(csv("text/csv;q=1.000000000000"));
  EXPECT_TRUE(csv(",, text/csv ;q=0.5;,"));
}

}  // namespace
}  // namespace pingloom::http::accept_test::media_type_test
