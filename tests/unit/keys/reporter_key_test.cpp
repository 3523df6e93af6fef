#include "keys/reporter_key.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>

#include "../common/temporary_directory.h"
#include "common/file.h"

namespace pingloom::keys::reporter_key_test {
namespace {

using testing::HasSubstr;

class ReporterKeyTest : public testing::Test {
 protected:
  void write(const std::string& text, mode_t mode = 0600) const {
    std::ofstream(file_) << text;
    chmod(file_.c_str(), mode);
  }
  std::string mistake() const {
    const auto read = readReporterKey(file_);
    return read ? "none" : read.error().text();
  }

  const test::TemporaryDirectory folder_;
  const std::filesystem::path file_ = folder_ / "reporter.key";
};

TEST_F(ReporterKeyTest, MakesAKeyThatItReadsBack) {
  ASSERT_TRUE(makeReporterKey(file_));
  struct stat status {};
  ASSERT_EQ(stat(file_.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 07777, 0600U);
  const auto key = readReporterKey(file_);
  ASSERT_TRUE(key) << key.error().text();
  ASSERT_TRUE(makeReporterKey(folder_ / "another.key"));
  EXPECT_NE(*readReporterKey(folder_ / "another.key"), *key);
  EXPECT_THAT(makeReporterKey(file_).error().text(), HasSubstr("is there already"));
  EXPECT_EQ(*readReporterKey(file_), *key);
}

TEST_F(ReporterKeyTest, ReadsDigits) {
  write(" 000102030405060708090a0b0c0d0eFF\n");
  EXPECT_EQ(*readReporterKey(file_),
            (wire::ReportKey{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 255}));
}

TEST_F(ReporterKeyTest, SaysWhatIsWrong) {
  EXPECT_THAT(mistake(), HasSubstr("pingloom keys reporter FILE"));
  for (const char* bad :
       {"", "0001", "000102030405060708090a0b0c0d0e0g", "000102030405060708090a0b0c0d0e0f00",
        "+00102030405060708090a0b0c0d0e0f"}) {
    write(bad);
    EXPECT_THAT(mistake(), HasSubstr("32 hexadecimal digits")) << bad;
  }
  write("000102030405060708090a0b0c0d0e0f", 0644);
  EXPECT_THAT(mistake(), HasSubstr("chmod"));
  EXPECT_THAT(mistake(), testing::Not(HasSubstr("0102030405")));
}

}  // namespace
}  // namespace pingloom::keys::reporter_key_test
