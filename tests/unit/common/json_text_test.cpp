#include "common/json_text.h"

#include <gmock/gmock.h>

namespace pingloom::json_text_test {
namespace {

std::string quoted(std::string_view text) {
  std::string out;
  appendJsonString(out, text);
  return out;
}

TEST(JsonText, Escapes) {
  EXPECT_EQ(quoted("plain"), "\"plain\"");
  EXPECT_EQ(quoted("a\"b\\c"), R"("a\"b\\c")");
  EXPECT_EQ(quoted("a\nb\tc\rd"), R"("a\nb\tc\rd")");
  EXPECT_EQ(quoted(std::string_view("\x01\x00\x7f", 3)), R"("\u0001\u0000\u007f")");
  EXPECT_EQ(quoted("<script>"), "\"<script>\"");
}

TEST(JsonText, KeepsUtf8AndReplacesWhatIsNot) {
  EXPECT_EQ(quoted("M\u00fcnchen \u20ac \U0001F600"), "\"M\u00fcnchen \u20ac \U0001F600\"");
  EXPECT_EQ(quoted("a\xff"
                   "b"),
            "\"a\uFFFDb\"");
  EXPECT_EQ(quoted("\xc0\xaf"), "\"\uFFFD\uFFFD\"");            // overlong
  EXPECT_EQ(quoted("\xe2\x82"), "\"\uFFFD\uFFFD\"");            // cut off
  EXPECT_EQ(quoted("\xed\xa0\x80"), "\"\uFFFD\uFFFD\uFFFD\"");  // surrogate
  EXPECT_EQ(quoted("\xf4\x90\x80\x80"), "\"\uFFFD\uFFFD\uFFFD\uFFFD\"");
}

TEST(JsonText, Numbers) {
  std::string out;
  appendJsonNumber(out, 18446744073709551615U);
  EXPECT_EQ(out, "18446744073709551615");
}

}  // namespace
}  // namespace pingloom::json_text_test
