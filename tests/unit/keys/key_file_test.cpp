#include "keys/key_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "../common/temporary_directory.h"
#include "common/file.h"

namespace pingloom::keys::key_file_test {
namespace {

using testing::AnyOf;
using testing::HasSubstr;

class KeyFileTest : public testing::Test {
 protected:
  void write(const std::string& text, mode_t mode = 0600) const {
    std::ofstream(file_) << text;
    chmod(file_.c_str(), mode);
  }
  std::string mistake() const {
    const auto read = readSecretKey(file_);
    return read ? "none" : read.error().text();
  }
  static mode_t modeOf(const std::filesystem::path& file) {
    struct stat status {};
    return stat(file.c_str(), &status) == 0 ? status.st_mode & 07777 : 0;
  }

  const test::TemporaryDirectory folder_;
  const std::filesystem::path file_ = folder_ / "service.key";
  const net::CurvePair pair_ = net::CurvePair::generate();
};

TEST_F(KeyFileTest, WritesAPairThatItReadsBack) {
  const mode_t before = umask(0);
  ASSERT_TRUE(writeKeyPair(file_, pair_));
  umask(before);
  EXPECT_EQ(modeOf(file_), 0600U);
  EXPECT_EQ(modeOf(file_.string() + ".pub"), 0644U);
  const auto read = readSecretKey(file_);
  ASSERT_TRUE(read) << read.error().text();
  EXPECT_EQ(read->secret, pair_.secret);
  EXPECT_EQ(read->public_key, pair_.public_key);
  const auto public_key = publicKeyOf(file_.string() + ".pub");
  ASSERT_TRUE(public_key) << public_key.error().text();
  EXPECT_EQ(*public_key, pair_.public_key);
}

TEST_F(KeyFileTest, AFileWhosePathWouldDoForAKeyIsAFile) {
  const std::string folder = folder_.path();
  const std::string name = folder + "/" + std::string(39 - folder.size(), 'k');
  ASSERT_TRUE(net::CurveKey::parse(name)) << name;
  EXPECT_EQ(publicKeyOf(name)->text(), name);
  std::ofstream(name) << pair_.public_key.text() << "\n";
  EXPECT_EQ(*publicKeyOf(name), pair_.public_key);
}

TEST_F(KeyFileTest, NeverOverwrites) {
  ASSERT_TRUE(writeKeyPair(file_, pair_));
  EXPECT_THAT(writeKeyPair(file_, net::CurvePair::generate()).error().text(), HasSubstr("already"));
  std::filesystem::remove(file_);  // the public one alone is enough
  EXPECT_THAT(writeKeyPair(file_, net::CurvePair::generate()).error().text(), HasSubstr("already"));
  EXPECT_FALSE(std::filesystem::exists(file_));
  EXPECT_EQ(*publicKeyOf(file_.string() + ".pub"), pair_.public_key);
}

TEST_F(KeyFileTest, RefusesWhatOthersMayUse) {
  ASSERT_TRUE(writeKeyPair(file_, pair_));
  for (const mode_t mode : {0644, 0604, 0601, 0602, 0660, 0610, 0666}) {
    chmod(file_.c_str(), mode);
    EXPECT_THAT(mistake(), HasSubstr("run: chmod 06")) << std::oct << mode;
    EXPECT_THAT(mistake(), HasSubstr(file_.string()));
    EXPECT_THAT(mistake(), Not(HasSubstr(std::string(pair_.secret.text()))));
  }
  for (const mode_t mode : {0600, 0400, 0640, 0440}) {
    chmod(file_.c_str(), mode);
    if (::geteuid() == 0 || (mode & 0400) != 0) {
      EXPECT_EQ(mistake(), "none") << std::oct << mode;
    }
  }
}

TEST_F(KeyFileTest, SaysWhatIsWrongWithoutShowingIt) {
  const std::string secret(pair_.secret.text());
  EXPECT_THAT(mistake(), HasSubstr("pingloom keys generate"));
  for (const std::string& text :
       {std::string(), std::string("pingloom-secret-key"), "pingloom-secret-key " + secret + "x",
        "pingloom-secret-key " + secret.substr(1), secret + secret, std::string(9000, 'x'),
        "pingloom-secret-key " + secret + " " + std::string(5000, 'x'), std::string(100, '\0')}) {
    write(text);
    EXPECT_THAT(mistake(), AnyOf(HasSubstr("holds no secret key"), HasSubstr("larger than")));
    EXPECT_THAT(mistake(), Not(HasSubstr(secret.substr(1))));
  }
  write(std::string(pair_.public_key.text()) + "\n");
  EXPECT_THAT(mistake(), HasSubstr("holds a public key"));
  write("pingloom-secret-key " + secret + "\n");
  EXPECT_THAT(publicKeyOf(file_).error().text(), HasSubstr("holds a secret key"));
  EXPECT_THAT(publicKeyOf("abc").error().text(), HasSubstr("neither"));
}

TEST_F(KeyFileTest, RefusesWhatIsNoFileWithoutWaiting) {
  ASSERT_EQ(mkfifo(file_.c_str(), 0600), 0);
  EXPECT_THAT(mistake(), HasSubstr("not a regular file"));
  std::filesystem::remove(file_);
  std::filesystem::create_directory(file_);
  EXPECT_THAT(mistake(), HasSubstr("not a regular file"));
}

// A link is followed to the file, and the file is judged: as Kubernetes mounts secrets.
TEST_F(KeyFileTest, JudgesTheFileBehindALink) {
  const auto real = folder_ / "real";
  ASSERT_TRUE(writeKeyPair(real, pair_));
  std::filesystem::create_symlink(real, file_);
  EXPECT_EQ(mistake(), "none");
  chmod(real.c_str(), 0644);
  EXPECT_THAT(mistake(), HasSubstr("chmod"));
}

}  // namespace
}  // namespace pingloom::keys::key_file_test
