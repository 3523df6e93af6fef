#include "keys/join_book.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "common/file.h"
#include "keys/authorized_file.h"
#include "keys/join_token.h"
#include "unit/common/temporary_directory.h"

namespace pingloom::keys::join_book_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

JoinBook filled() {
  JoinBook book;
  KnownToken token(net::CurvePair::generate().public_key);
  token.name = "rack 12's";
  token.created_utc = kSecond;
  token.expires_utc = 100 * kSecond;
  token.uses = 10;
  token.used = 3;
  token.role = Role::kCollector;
  token.manual = true;
  book.tokens.push_back(token);
  AuthorizedKey entry(net::CurvePair::generate().public_key);
  entry.host = "gpu-001";
  EXPECT_TRUE(addAddresses("10.0.0.1", entry));
  WaitingKey waiting(entry);
  waiting.from = "192.0.2.1";
  waiting.why = "it connects from elsewhere";
  waiting.asked_utc = 50 * kSecond;
  waiting.rejected = true;
  book.requests.push_back(waiting);
  return book;
}

TEST(JoinBook, ReadsWhatItWrites) {
  const JoinBook book = filled();
  const auto read = JoinBook::parse(book.text(), "join.yaml");
  ASSERT_TRUE(read) << read.error().text();
  EXPECT_EQ(read->text(), book.text());
  const KnownToken& token = read->tokens.at(0);
  EXPECT_EQ(token.name, "rack 12's");
  EXPECT_EQ(token.expires_utc, 100 * kSecond);
  EXPECT_EQ(token.uses, 10U);
  EXPECT_EQ(token.used, 3U);
  EXPECT_EQ(token.role, Role::kCollector);
  EXPECT_TRUE(token.manual);
  const WaitingKey& waiting = read->requests.at(0);
  EXPECT_EQ(waiting.entry.host, "gpu-001");
  EXPECT_THAT(waiting.entry.expressions, ElementsAre("10.0.0.1"));
  EXPECT_TRUE(waiting.rejected);
  EXPECT_TRUE(JoinBook::parse(JoinBook().text(), "join.yaml"));
}

TEST(JoinBook, SaysWhatIsWrongAndWhere) {
  const std::string key(net::CurvePair::generate().public_key.text());
  for (const auto& [text, part] : std::vector<std::pair<std::string, std::string>>{
           {"token: []\n", "tokens"},
           {"tokens: 3\n", "expected a list"},
           {"tokens: [3]\n", "PUBLIC_KEY"},
           {"tokens: [{ expires: '2026-01-01T00:00:00Z' }]\n", "'key' is missing"},
           {"tokens: [{ key: '" + key + "' }]\n", "'expires' is missing"},
           {"tokens: [{ key: '" + key + "', expires: soon }]\n", "'soon' is not a time"},
           {"requests: [{ from: 10.0.0.1 }]\n", "'wants' is missing"}}) {
    const auto read = JoinBook::parse(text, "join.yaml");
    ASSERT_FALSE(read) << text;
    EXPECT_THAT(read.error().text(), testing::AllOf(HasSubstr("join.yaml:1:"), HasSubstr(part)));
  }
}

TEST(JoinBook, ForgetsWhatIsOld) {
  JoinBook book = filled();
  book.forgetOld(100 * kSecond + JoinBook::kRemembered - 1);
  EXPECT_EQ(book.tokens.size(), 1U) << "it is shown as expired for a while";
  EXPECT_TRUE(book.requests.empty());
  book.forgetOld(100 * kSecond + JoinBook::kRemembered);
  EXPECT_TRUE(book.tokens.empty());
}

TEST(KeyFiles, BothAreChangedTogetherOrNotAtAll) {
  const test::TemporaryDirectory folder;
  const auto list = folder / "authorized_keys.yaml";
  const JoinBook book = filled();
  EXPECT_TRUE(loadJoinBook(list)->tokens.empty()) << "a missing file is empty";
  ASSERT_TRUE(changeKeyFiles(list, true, [&](AuthorizedKeys& keys, JoinBook& joins) -> Status {
    joins = book;
    return keys.add(book.requests[0].entry);
  }));
  EXPECT_EQ(loadJoinBook(list)->text(), book.text());
  EXPECT_EQ(loadAuthorizedKeys(list)->entries().size(), 1U);
  const auto failed = changeKeyFiles(list, true, [&](AuthorizedKeys& keys, JoinBook& joins) {
    joins.tokens.clear();
    return keys.add(book.requests[0].entry);
  });
  EXPECT_FALSE(failed);
  EXPECT_EQ(loadJoinBook(list)->text(), book.text());
  // What nobody has changed is not written, and so keeps an operator's comments.
  ASSERT_TRUE(writeFileAtomic(list, "# ours\n" + *readFile(list, 1 << 20)));
  ASSERT_TRUE(changeKeyFiles(list, true, [](AuthorizedKeys&, JoinBook& joins) -> Status {
    joins.tokens.clear();
    return {};
  }));
  EXPECT_THAT(*readFile(list, 1 << 20), testing::StartsWith("# ours\n"));
  EXPECT_TRUE(loadJoinBook(list)->tokens.empty());
}

TEST(KeyFiles, AFileThatEverybodyMayWriteIsRefused) {
  const test::TemporaryDirectory folder;
  const auto list = folder / "authorized_keys.yaml";
  ASSERT_TRUE(writeFileAtomic(joinFile(list), JoinBook().text()));
  ASSERT_EQ(::chmod(joinFile(list).c_str(), 0666), 0);
  const auto loaded = loadJoinBook(list);
  ASSERT_FALSE(loaded);
  EXPECT_THAT(loaded.error().text(), HasSubstr("chmod o-w"));
}

}  // namespace
}  // namespace pingloom::keys::join_book_test
