#include "common/text.h"

#include <gtest/gtest.h>

namespace pingloom::text_test {
namespace {

TEST(DidYouMean, FindsTheNearWordOnly) {
  EXPECT_EQ(closestWord("intreval", {"interval", "timeout"}), "interval");
  EXPECT_EQ(closestWord("mes", {"mesh", "from"}), "mesh");
  EXPECT_EQ(closestWord("banana", {"interval", "timeout"}), "");
  EXPECT_EQ(closestWord(std::string(100'000, 'x'), {"interval"}), "");
}

TEST(DidYouMean, AWordOfAnotherLengthIsNotMeant) {
  EXPECT_EQ(closestWord("gpu-01", {"gpu-001", "gpu-01" + std::string(4000, 'x')}), "gpu-001");
}

TEST(Shorten, KeepsWholeCharacters) {
  const auto shortened = [](std::string text, std::size_t most) {
    shorten(text, most);
    return text;
  };
  EXPECT_EQ(shortened("abc", 3), "abc");
  EXPECT_EQ(shortened("abcd", 3), "abc...");
  EXPECT_EQ(shortened("ab\xc3\xb6", 3), "ab...");
  EXPECT_EQ(shortened("a\xe2\x82\xac", 4), "a\xe2\x82\xac");
}

TEST(AsOneLine, SplitsNoCharacter) {
  EXPECT_EQ(asOneLine("a\nb\tc", 4), "a b ");
  EXPECT_EQ(asOneLine("ab\xc3\xb6", 3), "ab");
  EXPECT_EQ(asOneLine("ab\xc3\xb6", 4), "ab\xc3\xb6");
}

TEST(ParseUnsigned, TakesDigitsOnly) {
  EXPECT_EQ(*parseUnsigned("65535", 65535), 65535U);
  for (const char* text : {"", "-1", "+1", "1.0", "65536", "0x10", " 1", "99999999999999999999"}) {
    EXPECT_FALSE(parseUnsigned(text, 65535)) << text;
  }
}

TEST(Utf8, FindsTheFirstByteThatIsNone) {
  constexpr auto kNone = std::string_view::npos;
  EXPECT_EQ(invalidUtf8At(""), kNone);
  EXPECT_EQ(invalidUtf8At("a \xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80"), kNone);
  EXPECT_EQ(invalidUtf8At("ab\xe9z"), 2U) << "Latin-1";
  EXPECT_EQ(invalidUtf8At("\x80"), 0U) << "a continuation without a start";
  EXPECT_EQ(invalidUtf8At("a\xe2\x82"), 1U) << "cut off";
  EXPECT_EQ(invalidUtf8At("\xc0\xaf"), 0U) << "overlong";
  EXPECT_EQ(invalidUtf8At("\xe0\x80\xaf"), 0U) << "overlong";
  EXPECT_EQ(invalidUtf8At("\xed\xa0\x80"), 0U) << "a surrogate";
  EXPECT_EQ(invalidUtf8At("\xf4\x90\x80\x80"), 0U) << "beyond U+10FFFF";
}

}  // namespace
}  // namespace pingloom::text_test
