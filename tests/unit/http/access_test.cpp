#include "http/access.h"

#include <gmock/gmock.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>

#include "http/credentials.h"

namespace pingloom::http::access_test {
namespace {

const std::string kReader(32, 'r');
const std::string kOperator(32, 'o');
const IpAddress kPeer = *IpAddress::parse("10.0.0.1");
const IpAddress kOther = *IpAddress::parse("10.0.0.2");

struct AccessTest : testing::Test {
  AccessTest() : file(testing::TempDir() + "access-" + std::to_string(getpid())) {
    write("read " + kReader + "\noperate " + kOperator + "\n");
    access = *Access::open({file, {}, {}});
  }
  ~AccessTest() override { std::filesystem::remove(file); }
  void write(const std::string& text) const {
    std::ofstream(file) << text;
    ::chmod(file.c_str(), 0600);
  }
  tl::expected<Pass, Refusal> byToken(const std::string& token, const IpAddress& peer = kPeer) {
    return access->admit({peer, "Bearer " + token, ""}, now);
  }
  tl::expected<Pass, Refusal> bySession(const std::string& session) {
    return access->admit({kPeer, "", "a=b; pingloom-session=" + session}, now);
  }

  const std::filesystem::path file;
  std::shared_ptr<Access> access;
  Nanos now = kHour;
};

TEST_F(AccessTest, ATokenGivesItsRole) {
  EXPECT_EQ(byToken(kReader)->role, Role::kRead);
  EXPECT_EQ(byToken(kOperator)->role, Role::kOperate);
  EXPECT_EQ(byToken("").error(), Refusal::kNoToken);
  EXPECT_EQ(byToken(kReader + "x").error(), Refusal::kWrongToken);
  EXPECT_EQ(access->admit({kPeer, "", ""}, now).error(), Refusal::kNoToken);
  EXPECT_EQ(access->admit({kPeer, "Basic abc", ""}, now).error(), Refusal::kNoToken);
  EXPECT_EQ(bySession("made-up").error(), Refusal::kNoToken);
}

TEST_F(AccessTest, WrongTokensOfAnAddressAreLimited) {
  for (int i = 0; i < static_cast<int>(Access::kAttempts); ++i) {
    EXPECT_EQ(byToken("guess").error(), Refusal::kWrongToken);
  }
  EXPECT_EQ(byToken("guess").error(), Refusal::kAttempts);
  EXPECT_TRUE(byToken(kReader)) << "others behind the same proxy";
  EXPECT_TRUE(access->signIn(kPeer, kReader, now));
  EXPECT_EQ(byToken("guess", kOther).error(), Refusal::kWrongToken);
  now += 5 * kSecond;
  EXPECT_EQ(byToken("guess").error(), Refusal::kWrongToken);
  EXPECT_EQ(byToken("guess").error(), Refusal::kAttempts);
}

TEST_F(AccessTest, ASessionStandsForItsTokenUntilItEnds) {
  const auto reader = access->signIn(kPeer, kReader, now);
  const auto again = access->signIn(kPeer, kReader, now);
  ASSERT_TRUE(reader && again);
  EXPECT_EQ(reader->role, Role::kRead);
  EXPECT_NE(reader->session, again->session);
  const auto pass = bySession(reader->session);
  ASSERT_TRUE(pass);
  EXPECT_EQ(pass->role, Role::kRead);
  EXPECT_TRUE(access->holds(*pass, now));
  EXPECT_EQ(byToken(kOperator)->role, Role::kOperate) << "a token counts more";

  access->signOut(*pass);
  EXPECT_FALSE(access->holds(*pass, now));
  EXPECT_EQ(bySession(reader->session).error(), Refusal::kNoToken);
  EXPECT_TRUE(bySession(again->session));
  now += Sessions::kMaxAge;
  EXPECT_EQ(bySession(again->session).error(), Refusal::kNoToken);
  EXPECT_EQ(access->sessions(), 0U);
}

TEST_F(AccessTest, WithdrawingATokenEndsWhatItOpened) {
  const auto session = access->signIn(kPeer, kOperator, now)->session;
  const auto pass = *bySession(session);
  const auto direct = *byToken(kOperator);
  write("read " + kReader + "\n");
  ASSERT_TRUE(access->reload());
  EXPECT_FALSE(access->holds(pass, now));
  EXPECT_FALSE(access->holds(direct, now));
  EXPECT_EQ(bySession(session).error(), Refusal::kNoToken);
  EXPECT_TRUE(byToken(kReader));
}

TEST_F(AccessTest, ATokenThatComesBackBringsNoSessionBack) {
  const auto session = access->signIn(kPeer, kReader, now)->session;
  write("operate " + kOperator + "\n");
  ASSERT_TRUE(access->reload());
  write("operate " + kOperator + "\nread " + kReader + "\n");
  ASSERT_TRUE(access->reload());
  EXPECT_TRUE(byToken(kReader));
  EXPECT_EQ(bySession(session).error(), Refusal::kNoToken);
}

TEST_F(AccessTest, LessOfARoleEndsWhatNeededMore) {
  const auto pass = *byToken(kOperator);
  write("read " + kOperator + "\n");
  ASSERT_TRUE(access->reload());
  EXPECT_FALSE(access->holds(pass, now));
  EXPECT_EQ(byToken(kOperator)->role, Role::kRead);
}

TEST_F(AccessTest, AnInvalidFileChangesNothing) {
  write("read\n");
  const auto status = access->reload();
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().entity, file.string() + ":1");
  EXPECT_TRUE(byToken(kReader));
}

TEST_F(AccessTest, WhoeverSignsInAgainAndAgainEndsOnlyHisOwnSessions) {
  const auto operators = access->signIn(kPeer, kOperator, now)->session;
  const auto first = access->signIn(kPeer, kReader, now)->session;
  for (std::size_t i = 0; i < 2 * Sessions::kMax; ++i) {
    now += kSecond;
    ASSERT_TRUE(access->signIn(kPeer, kReader, now));
  }
  EXPECT_EQ(access->sessions(), Sessions::kMaxPerToken + 1);
  EXPECT_EQ(bySession(first).error(), Refusal::kNoToken);
  EXPECT_TRUE(bySession(operators));
}

TEST(SessionsTest, BeyondTheBoundTheOldestEnds) {
  Sessions sessions;
  Nanos now = kHour;
  const auto first = sessions.open(digestOf("0"), now);
  for (std::size_t i = 0; i < Sessions::kMax; ++i) {
    now += kSecond;
    sessions.open(digestOf(std::to_string(i)), now);
  }
  EXPECT_EQ(sessions.size(), Sessions::kMax);
  EXPECT_FALSE(sessions.tokenOf(digestOf(first), now));
}

TEST(AddressLimiter, WhatHasBeenTakenMayLeaveADebtOfOneBurst) {
  AddressLimiter limiter(2, 4);
  Nanos now = kHour;
  limiter.charge(kPeer, 6, now);
  EXPECT_FALSE(limiter.take(kPeer, 1, now));
  EXPECT_TRUE(limiter.take(kOther, 4, now));
  EXPECT_FALSE(limiter.take(kPeer, 1, now + kSecond));
  EXPECT_TRUE(limiter.take(kPeer, 1, now + kSecond * 3 / 2));
  limiter.charge(kPeer, 1e9, now + 2 * kSecond);
  EXPECT_FALSE(limiter.take(kPeer, 1, now + 4 * kSecond));
  EXPECT_TRUE(limiter.take(kPeer, 1, now + 5 * kSecond));
}

TEST(AddressLimiter, EachSourceHasItsBucket) {
  AddressLimiter limiter(2, 4);
  Nanos now = kHour;
  for (int i = 0; i < 4; ++i) EXPECT_TRUE(limiter.take(kPeer, 1, now));
  EXPECT_FALSE(limiter.take(kPeer, 1, now));
  EXPECT_TRUE(limiter.take(kOther, 4, now));
  now += kSecond / 2;
  EXPECT_TRUE(limiter.take(kPeer, 1, now));
  EXPECT_FALSE(limiter.take(kPeer, 1, now));
  now += kHour;
  EXPECT_TRUE(limiter.take(kPeer, 4, now));
  EXPECT_FALSE(limiter.take(kPeer, 1, now));
}

TEST(AddressLimiter, AHostsIpv6AddressesAreOneSource) {
  AddressLimiter limiter(1, 1);
  EXPECT_TRUE(limiter.take(*IpAddress::parse("fd00::1"), 1, kHour));
  EXPECT_FALSE(limiter.take(*IpAddress::parse("fd00::ffff:1"), 1, kHour));
  EXPECT_TRUE(limiter.take(*IpAddress::parse("fd00:0:0:1::1"), 1, kHour));
}

TEST(AddressLimiter, TheTableIsBounded) {
  AddressLimiter limiter(1, 2);
  Nanos now = kHour;
  const auto source = [](std::uint32_t i) { return IpAddress::fromV4(0x0a000000 + i); };
  for (std::uint32_t i = 0; i < AddressLimiter::kMaxSources; ++i) limiter.take(source(i), 1, now);
  EXPECT_TRUE(limiter.take(source(1'000'000), 1, now));
  EXPECT_TRUE(limiter.take(source(1'000'001), 1, now));
  EXPECT_FALSE(limiter.take(source(1'000'002), 1, now)) << "newcomers share one";
  EXPECT_TRUE(limiter.take(source(0), 1, now)) << "who has a bucket keeps it";
  EXPECT_EQ(limiter.sources(), AddressLimiter::kMaxSources);
  now += 10 * kSecond;
  EXPECT_TRUE(limiter.take(source(1'000'002), 2, now)) << "full ones are forgotten";
  EXPECT_EQ(limiter.sources(), 1U);
}

TEST(Credentials, BearerTokens) {
  EXPECT_EQ(bearerToken("Bearer abc"), "abc");
  EXPECT_EQ(bearerToken(" bearer   abc\t"), "abc");
  EXPECT_EQ(bearerToken("Bearer "), std::nullopt);
  EXPECT_EQ(bearerToken("Bearer"), std::nullopt);
  EXPECT_EQ(bearerToken("Basic abc"), std::nullopt);
  EXPECT_EQ(bearerToken("Bearerabc def"), std::nullopt);
  EXPECT_EQ(bearerToken(""), std::nullopt);
}

TEST(Credentials, Cookies) {
  EXPECT_EQ(cookieNamed("a=1; b=2;c=3", "b"), "2");
  EXPECT_EQ(cookieNamed("a=1; b=2;c=3", "c"), "3");
  EXPECT_EQ(cookieNamed("ab=1; b=", "b"), "");
  EXPECT_EQ(cookieNamed("b=1=2; b=3", "b"), "1=2");
  EXPECT_EQ(cookieNamed("b; =1; ;", "b"), std::nullopt);
  EXPECT_EQ(cookieNamed("", "b"), std::nullopt);
}

}  // namespace
}  // namespace pingloom::http::access_test
