#include "keys/join_token.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace pingloom::keys::join_token_test {
namespace {

using testing::HasSubstr;
using testing::Not;

JoinToken made() {
  return {net::CurvePair::generate().public_key, net::CurvePair::generate(),
          1'764'000'000 * kSecond};
}

TEST(JoinToken, ReadsWhatItWrites) {
  const JoinToken token = made();
  const std::string text = token.text();
  EXPECT_EQ(text.size(), JoinToken::kTextBytes);
  const auto read = JoinToken::parse(text);
  ASSERT_TRUE(read) << read.error().text();
  EXPECT_EQ(read->controller, token.controller);
  EXPECT_EQ(read->own.secret, token.own.secret);
  EXPECT_EQ(read->own.public_key, token.own.public_key);
  EXPECT_EQ(read->expires_utc, token.expires_utc);
}

TEST(JoinToken, NoticesEveryChangedCharacter) {
  const std::string text = made().text();
  for (std::size_t i = 0; i < text.size(); ++i) {
    std::string changed = text;
    changed[i] = changed[i] == '0' ? '1' : '0';
    EXPECT_TRUE(changed == text || !JoinToken::parse(changed)) << i;
  }
}

TEST(JoinToken, SaysWhatIsWrongWithoutRepeatingIt) {
  const std::string text = made().text();
  const auto error = [](const std::string& wrong) {
    return JoinToken::parse(wrong).error().text();
  };
  EXPECT_THAT(error(""), HasSubstr("is no join token"));
  EXPECT_THAT(error("secret"),
              testing::AllOf(HasSubstr("is no join token"), Not(HasSubstr("secret"))));
  EXPECT_THAT(error(text.substr(0, 40)), HasSubstr("is no whole join token"));
  EXPECT_THAT(error(text + "0"), HasSubstr("is no whole join token"));
  std::string upper = text;
  upper[20] = 'X';
  EXPECT_THAT(error(upper), HasSubstr("was changed"));
}

}  // namespace
}  // namespace pingloom::keys::join_token_test
