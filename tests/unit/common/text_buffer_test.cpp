#include "common/text_buffer.h"

#include <gtest/gtest.h>

#include <limits>
#include <random>

namespace pingloom::text_buffer_test {
namespace {

TEST(TextBuffer, AppendsAllPiecesInOrder) {
  std::mt19937_64 random(1);
  for (int round = 0; round < 200; ++round) {
    std::string expected = "before";
    std::string out = expected;
    {
      TextBuffer buffer(out);
      for (int i = 0; i < 200; ++i) {
        const std::string text(random() % (i % 50 == 0 ? 3000 : 40),
                               static_cast<char>('a' + i % 26));
        const std::uint64_t number = random() >> random() % 64;
        buffer.add(text);
        buffer.add('-');
        buffer.addNumber(number);
        buffer.addField(",\"field\":", number);
        expected += text + "-" + std::to_string(number) + ",\"field\":" + std::to_string(number);
        if (i % 61 == 0) {
          buffer.string() += "direct";
          expected += "direct";
        }
      }
      buffer.finish();
    }
    ASSERT_EQ(out, expected);
  }
}

TEST(TextBuffer, EveryFieldFitsAtEveryFill) {
  constexpr std::uint64_t kMost = std::numeric_limits<std::uint64_t>::max();
  for (std::size_t fill = 980; fill <= 1030; ++fill) {
    std::string out;
    TextBuffer buffer(out);
    for (std::size_t i = 0; i < fill; ++i) buffer.add('x');
    buffer.addField("first=", kMost);
    buffer.addField("second=", 7);
    buffer.finish();
    EXPECT_EQ(out, std::string(fill, 'x') + "first=" + std::to_string(kMost) + "second=7");
  }
}

// A number or a character that does not fit any more must not be written behind the buffer.
TEST(TextBuffer, EveryPieceFitsAtEveryFill) {
  constexpr std::uint64_t kMost = std::numeric_limits<std::uint64_t>::max();
  for (std::size_t fill = 980; fill <= 1030; ++fill) {
    std::string out;
    {
      TextBuffer buffer(out);
      for (std::size_t i = 0; i < fill; ++i) buffer.add('x');
      buffer.addNumber(kMost);
      buffer.add("text");
      buffer.addNumber(0);
      buffer.finish();
    }
    EXPECT_EQ(out, std::string(fill, 'x') + std::to_string(kMost) + "text0");
  }
}

TEST(TextBuffer, WritesNumbersInFull) {
  std::string out;
  {
    TextBuffer buffer(out);
    for (const std::uint64_t number : {0U, 9U, 10U, 99U, 100U, 4'294'967'295U}) {
      buffer.addNumber(number);
      buffer.add(' ');
    }
    buffer.finish();
  }
  EXPECT_EQ(out, "0 9 10 99 100 4294967295 ");
}

}  // namespace
}  // namespace pingloom::text_buffer_test
