#include "cli/dta_bytes.h"

#include <gtest/gtest.h>

#include <string>

#include "common/hex.h"
#include "store/key_text.h"
#include "store/path_change.h"

namespace pingloom::cli::dta_bytes_test {
namespace {

TEST(DtaBytes, TextIsQuoted) {
  EXPECT_EQ(quotedText("6f6e650000"), "  \"one\"");
  EXPECT_EQ(quotedText("0102"), "");
  EXPECT_EQ(quotedText("0000"), "");
  EXPECT_EQ(quotedText("1b5b30"), "") << "an escape sequence";
  EXPECT_EQ(quotedText("no digits"), "");
}

TEST(DtaBytes, AChangeOfAPathIsTold) {
  const auto key = *store::parseKey("tuple:10.0.0.1:50000>10.0.1.1:4791/udp");
  const std::array<std::uint8_t, 4> before = {10, 0, 0, 254};
  const std::array<std::uint8_t, 4> after = {10, 0, 0, 253};
  store::PathChangeEntry memory;
  const auto entry =
      store::encodePathChange({key, 1, before, after}, 1'700'000'000 * kSecond, memory);
  const std::string bytes(entry.begin(), entry.end());
  const std::string text =
      "  2023-11-14T22:13:20Z tuple:10.0.0.1:50000>10.0.1.1:4791/udp hop 2: "
      "10.0.0.254 > 10.0.0.253";
  EXPECT_EQ(pathChangeText(hexOf(bytes)), text);
  EXPECT_EQ(pathChangeText(hexOf(bytes + std::string(9, '\0'))), text) << "entries have one size";
  EXPECT_EQ(pathChangeText(hexOf(bytes.substr(0, bytes.size() - 1))), "");
  EXPECT_EQ(pathChangeText(hexOf("an event")), "");
  EXPECT_EQ(pathChangeText(""), "");
}

}  // namespace
}  // namespace pingloom::cli::dta_bytes_test
