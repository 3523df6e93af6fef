#include "net/curve_key.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace pingloom::net::curve_key_test {
namespace {

// This pair is in ZeroMQ's manual page of zmq_curve_keypair.
constexpr const char* kPublic = "Yne@$w-vo<fVvi]a<NY6T1ed:M$fCG*[IaLV{hID";
constexpr const char* kSecret = "D:)Q[IlAW!ahhC2ac:9*A}h:p?([4%wOTJ%JR%cs";

TEST(CurveKey, DerivesThePublicKey) {
  const auto secret = CurveKey::parse(kSecret);
  ASSERT_TRUE(secret);
  const CurvePair pair = CurvePair::of(*secret);
  EXPECT_EQ(pair.public_key.text(), kPublic);
  EXPECT_EQ(pair.secret, *secret);
}

TEST(CurveKey, SurvivesTheWire) {
  const auto key = CurveKey::parse(kPublic);
  ASSERT_TRUE(key);
  ASSERT_EQ(key->wire().size(), CurveKey::kBytes);
  const auto back = CurveKey::fromWire(key->wire());
  ASSERT_TRUE(back);
  EXPECT_EQ(*back, *key);
  EXPECT_FALSE(CurveKey::fromWire(key->wire() + "x"));
  EXPECT_FALSE(CurveKey::fromWire(""));
}

TEST(CurveKey, RefusesWhatIsNone) {
  const std::string good = kPublic;
  for (const std::string& text :
       {std::string(), good.substr(1), good + "a", std::string(39, 'a') + " ",
        std::string(39, 'a') + "\"", std::string(39, 'a') + "\xc3", std::string(40, '\0'),
        std::string(40, '#')}) {
    const auto key = CurveKey::parse(text);
    ASSERT_FALSE(key) << text;
    EXPECT_THAT(key.error().text(), testing::HasSubstr("40 characters"));
  }
}

TEST(CurveKey, GeneratesDifferentPairsWithoutNeedOfQuotes) {
  const CurvePair first = CurvePair::generate();
  const CurvePair second = CurvePair::generate();
  EXPECT_NE(first.public_key, second.public_key);
  EXPECT_EQ(CurvePair::of(first.secret).public_key, first.public_key);
  for (const char c :
       std::string(first.public_key.text()) + std::string(second.public_key.text())) {
    EXPECT_EQ(std::string("#$&*!?()[]{}<>").find(c), std::string::npos) << c;
  }
}

}  // namespace
}  // namespace pingloom::net::curve_key_test
