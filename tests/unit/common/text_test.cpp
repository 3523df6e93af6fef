#include "common/text.h"

#include <gtest/gtest.h>

namespace pingloom {
namespace {

TEST(DidYouMean, FindsTheNearWordOnly) {
  EXPECT_EQ(closestWord("intreval", {"interval", "timeout"}), "interval");
  EXPECT_EQ(closestWord("mes", {"mesh", "from"}), "mesh");
  EXPECT_EQ(closestWord("banana", {"interval", "timeout"}), "");
  EXPECT_EQ(closestWord(std::string(100'000, 'x'), {"interval"}), "");
}

TEST(ParseUnsigned, TakesDigitsOnly) {
  EXPECT_EQ(*parseUnsigned("65535", 65535), 65535U);
  for (const char* text : {"", "-1", "+1", "1.0", "65536", "0x10", " 1", "99999999999999999999"}) {
    EXPECT_FALSE(parseUnsigned(text, 65535)) << text;
  }
}

}  // namespace
}  // namespace pingloom
