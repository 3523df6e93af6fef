#include <gtest/gtest.h>

#include <fstream>

#include "common/file.h"
#include "unit/common/temporary_directory.h"

namespace pingloom {
namespace {

TEST(ReadPassword, LineEndsAtTheEndDoNotCount) {
  const test::TemporaryDirectory folder;
  const auto file = folder / "password";
  std::ofstream(file) << " two words \r\n\n";
  EXPECT_EQ(readPassword(file).value_or("unread"), " two words ");
  std::ofstream(file) << "";
  EXPECT_EQ(readPassword(file).value_or("unread"), "");
  std::ofstream(file) << std::string(5'000, 'x');
  EXPECT_FALSE(readPassword(file)) << "it is no password";
  EXPECT_FALSE(readPassword(folder / "missing"));
}

}  // namespace
}  // namespace pingloom
