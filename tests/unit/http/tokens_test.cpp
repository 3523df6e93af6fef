#include "http/tokens.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>

namespace pingloom::http::tokens_test {
namespace {

using testing::HasSubstr;
using testing::Not;

const std::string kReader(32, 'r');
const std::string kOperator(64, 'o');
const std::string kCollector(40, 'c');

struct TokenFile : testing::Test {
  TokenFile() : path(testing::TempDir() + "tokens-" + std::to_string(getpid())) {}
  ~TokenFile() override { std::filesystem::remove(path); }
  void write(const std::string& text, mode_t mode) const {
    std::filesystem::remove(path);
    std::ofstream(path) << text;
    ::chmod(path.c_str(), mode);
  }
  const std::filesystem::path path;
};

TEST(Tokens, EachHasItsRole) {
  const auto tokens =
      Tokens::parse("# ours\n\nread " + kReader + " prometheus, and more\r\n" + "  operate\t" +
                        kOperator + "\ncollect " + kCollector + " dpu-1\n",
                    "tokens");
  ASSERT_TRUE(tokens) << tokens.error().text();
  EXPECT_EQ(tokens->size(), 3U);
  EXPECT_EQ(tokens->roleOf(digestOf(kReader)), Role::kRead);
  EXPECT_EQ(tokens->roleOf(digestOf(kOperator)), Role::kOperate);
  EXPECT_EQ(tokens->roleOf(digestOf(kCollector)), Role::kCollect);
  EXPECT_EQ(tokens->roleOf(digestOf(kReader + "r")), Role::kNone);
  EXPECT_EQ(tokens->roleOf(digestOf("")), Role::kNone);
}

TEST(Tokens, MistakesNameTheLineAndNeverTheToken) {
  std::string many;
  for (std::size_t i = 0; i <= Tokens::kMax; ++i) {
    many += "read " + std::to_string(1000 + i) + kReader + "\n";
  }
  const std::vector<std::tuple<std::string, std::string, std::string>> table = {
      {"", "t", "has no token"},
      {"# nothing\n", "t", "has no token"},
      {"read\n", "t:1", "32 to 256 characters"},
      {"\nread short\n", "t:2", "openssl rand -hex 32"},
      {"read " + std::string(257, 'x'), "t:1", "32 to 256"},
      {kReader + "\n", "t:1", "'read TOKEN"},
      {"admin " + kReader, "t:1", "'operate TOKEN"},
      {"Read " + kReader, "t:1", "'read TOKEN"},
      {"read " + kReader + "\noperate " + kReader, "t:2", "same token"},
      {"read " + std::string(31, 'x') + "\x80", "t:1", "ASCII"},
      {"read " + std::string(31, 'x') + ";", "t:1", "ASCII"},
      {many, "t:65", "more than 64"},
  };
  for (const auto& [text, place, reason] : table) {
    const auto tokens = Tokens::parse(text, "t");
    ASSERT_FALSE(tokens) << text;
    EXPECT_EQ(tokens.error().entity, place) << text;
    EXPECT_THAT(tokens.error().reason, HasSubstr(reason)) << text;
    EXPECT_THAT(tokens.error().text(), Not(HasSubstr(kReader)));
  }
}

TEST_F(TokenFile, OthersMayNotReadIt) {
  const std::string text = "read " + kReader + "\n";
  for (const mode_t mode : {0600U, 0640U, 0400U}) {
    write(text, mode);
    EXPECT_TRUE(Tokens::load(path)) << std::oct << mode;
  }
  for (const mode_t mode : {0644U, 0604U, 0660U, 0602U, 0601U}) {
    write(text, mode);
    const auto tokens = Tokens::load(path);
    ASSERT_FALSE(tokens) << std::oct << mode;
    EXPECT_THAT(tokens.error().reason, HasSubstr("run: chmod 06"));
  }
  std::filesystem::remove(path);
  EXPECT_THAT(Tokens::load(path).error().text(), HasSubstr("cannot open"));
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  EXPECT_THAT(Tokens::load(path).error().text(), HasSubstr("not a regular file"));
}

TEST_F(TokenFile, AClientsHasOneLine) {
  write("# of gpu-001\n" + kReader + "\n", 0600);
  EXPECT_EQ(*loadToken(path), kReader);
  for (const std::string& text :
       {std::string(), "read " + kReader, kReader + "\n" + kOperator, std::string("short\n")}) {
    write(text, 0600);
    EXPECT_FALSE(loadToken(path)) << text;
  }
  write(kReader, 0644);
  EXPECT_FALSE(loadToken(path));
}

TEST(Secrets, AreLongAndDiffer) {
  EXPECT_EQ(randomSecret().size(), 64U);
  EXPECT_NE(randomSecret(), randomSecret());
}

}  // namespace
}  // namespace pingloom::http::tokens_test
