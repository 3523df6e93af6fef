#include "collector/push/push_credentials.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "../common/temporary_directory.h"

namespace pingloom::collector::push_credentials_test {
namespace {

using ::testing::HasSubstr;

class PushCredentials : public ::testing::Test {
 protected:
  void write(const std::filesystem::path& file, const std::string& text) const {
    std::ofstream(file) << text;
    std::filesystem::permissions(file, std::filesystem::perms::owner_read);
  }
  PushTarget withPassword(const std::string& text) const {
    write(folder_ / "password", text);
    PushTarget target;
    target.user = "Aladdin";
    target.password = folder_ / "password";
    return target;
  }

  const test::TemporaryDirectory folder_;
};

TEST_F(PushCredentials, ATargetMayNeedNone) {
  const auto made = pushAuthorization({});
  ASSERT_TRUE(made);
  EXPECT_EQ(*made, "");
}

TEST_F(PushCredentials, ATokenIsABearerToken) {
  write(folder_ / "token", "a.b+c/d==\n");
  PushTarget target;
  target.token = folder_ / "token";
  const auto made = pushAuthorization(target);
  ASSERT_TRUE(made) << made.error().text();
  EXPECT_EQ(*made, "Bearer a.b+c/d==");
}

// RFC 7617, section 2, has this example.
TEST_F(PushCredentials, UserAndPasswordAreBasicAuthentication) {
  const auto made = pushAuthorization(withPassword("open sesame\n"));
  ASSERT_TRUE(made) << made.error().text();
  EXPECT_EQ(*made, "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==");
}

TEST_F(PushCredentials, AFileWithoutAPasswordOnOneLineIsRefusedByName) {
  for (const char* text : {"", "\n", "two\nlines\n", "a\tb"}) {
    std::filesystem::remove(folder_ / "password");
    const auto made = pushAuthorization(withPassword(text));
    ASSERT_FALSE(made) << text;
    EXPECT_THAT(made.error().text(), HasSubstr((folder_ / "password").string()));
    EXPECT_THAT(made.error().text(), HasSubstr("one line"));
  }
}

TEST_F(PushCredentials, AFileThatOthersMayReadIsRefused) {
  const PushTarget target = withPassword("secret\n");
  std::filesystem::permissions(target.password, std::filesystem::perms::others_read,
                               std::filesystem::perm_options::add);
  EXPECT_FALSE(pushAuthorization(target));
}

}  // namespace
}  // namespace pingloom::collector::push_credentials_test
