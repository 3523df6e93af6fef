#include "common/size.h"

#include <gtest/gtest.h>

namespace pingloom {
namespace {

TEST(Size, ReadsEveryUnit) {
  EXPECT_EQ(parseSize("17"), 17U);
  EXPECT_EQ(parseSize("17B"), 17U);
  EXPECT_EQ(parseSize("4KiB"), 4096U);
  EXPECT_EQ(parseSize("256MiB"), 256ULL << 20);
  EXPECT_EQ(parseSize("2GiB"), 2ULL << 30);
  EXPECT_EQ(parseSize("3TiB"), 3ULL << 40);
  EXPECT_EQ(parseSize("0"), 0U);
  EXPECT_EQ(parseSize("9223372036854775807"), kMaxSize);
  EXPECT_EQ(parseSize("8388607TiB"), 8'388'607ULL << 40);
}

TEST(Size, RefusesOthersAndSaysWhatToWrite) {
  for (const char* text : {"", "MiB", "B", "-1MiB", "1.5MiB", "5MB", "5 MiB", "5mib", "5KiBB",
                           "9223372036854775808", "8388608TiB", "99999999999TiB"}) {
    const auto size = parseSize(text);
    ASSERT_FALSE(size) << text;
    EXPECT_EQ(size.error().text(), "'" + std::string(text) +
                                       "': not a size; write a whole number with B, KiB, MiB, GiB "
                                       "or TiB");
  }
}

TEST(Size, IsWrittenAsItIsRead) {
  for (const char* text : {"0B", "1B", "1500B", "4KiB", "1023KiB", "16MiB", "64GiB", "1TiB",
                           "1025TiB", "9223372036854775807B"}) {
    EXPECT_EQ(formatSize(parseSize(text).value_or(1)), text);
  }
}

TEST(Size, IsWrittenForPeople) {
  EXPECT_EQ(formatSize(0, " "), "0 B");
  EXPECT_EQ(formatSize(1500, " "), "1500 B");
  EXPECT_EQ(formatSize(4096, " "), "4 KiB");
  EXPECT_EQ(humanBytes(0), "0 B");
  EXPECT_EQ(humanBytes(1023), "1023 B");
  EXPECT_EQ(humanBytes(1536), "1.50 KiB");
  EXPECT_EQ(humanBytes(50.0 * (1ULL << 30)), "50.00 GiB");
  EXPECT_EQ(humanBytes(3.0e16), "27284.84 TiB");
}

}  // namespace
}  // namespace pingloom
