#include "controller/model/collector_codec.h"

#include <gmock/gmock.h>

namespace pingloom::controller::collector_codec_test {
namespace {

constexpr Nanos kNow = 1000 * kSecond;
constexpr Nanos kThere = 77 * kSecond;  // another machine's clock at the same moment

TEST(CollectorCodec, ATimeIsThatOfTheReadersClock) {
  wire::Relays message;
  encode({{"dpu-1", "http://10.0.0.5:20715", true, kThere - 3 * kSecond},
          {"dpu-2", "https://[fd00::1]:20715", false, kThere + kSecond}},
         kThere, message);
  wire::Relays read;
  ASSERT_TRUE(read.ParseFromString(message.SerializeAsString()));
  const auto made = collectorsOf(read, kNow);
  ASSERT_EQ(made.size(), 2U);
  EXPECT_EQ(made[0].name, "dpu-1");
  EXPECT_EQ(made[0].url, "http://10.0.0.5:20715");
  EXPECT_TRUE(made[0].trusted);
  EXPECT_EQ(made[0].heard_mono, kNow - 3 * kSecond);
  EXPECT_EQ(made[1].url, "https://[fd00::1]:20715");
  EXPECT_FALSE(made[1].trusted);
  EXPECT_EQ(made[1].heard_mono, kNow) << "it has registered since the time was taken";
}

TEST(CollectorCodec, WhatIsForgottenIsNotTold) {
  wire::Relays message;
  const Nanos now = 2 * CollectorRegistration::kForget;
  encode({{"a", "http://10.0.0.5:1", false, now - CollectorRegistration::kForget},
          {"b", "http://10.0.0.5:2", false, now - CollectorRegistration::kForget - 1}},
         now, message);
  ASSERT_EQ(message.collectors_size(), 1);
  EXPECT_EQ(message.collectors(0).name(), "a");
}

TEST(CollectorCodec, MalformedOnesAreLeftOut) {
  wire::Relays message;
  const auto add = [&](const std::string& name, const std::string& url, std::uint64_t silent) {
    wire::RelayedCollector& made = *message.add_collectors();
    made.set_name(name);
    made.set_url(url);
    made.set_silent_ns(silent);
  };
  const std::string url = "http://10.0.0.5:1";
  add("", url, 0);
  add(std::string(CollectorRegistration::kMaxName + 1, 'x'), url, 0);
  add("a\nb", url, 0);
  add("a", "", 0);
  add("a", std::string(CollectorRegistration::kMaxUrl + 1, 'x'), 0);
  add("a", url, static_cast<std::uint64_t>(CollectorRegistration::kForget) + 1);
  add("a", url, ~std::uint64_t{0});
  EXPECT_TRUE(collectorsOf(message, kNow).empty());
  add(std::string(CollectorRegistration::kMaxName, 'x'), url, 0);
  EXPECT_EQ(collectorsOf(message, kNow).size(), 1U);
  for (std::size_t i = 0; i < CollectorRoster::kMax; ++i) add("a", url, 0);
  EXPECT_EQ(collectorsOf(message, kNow).size(), CollectorRoster::kMax);
}

TEST(CollectorRosterTest, WhatIsNotTakenIsReplacedAndTheReaderIsWokenOnce) {
  CollectorRoster roster;
  int woken = 0;
  roster.tell("b", {{{"a", "http://10.0.0.5:1", false, 1}}, false});
  roster.wakeBy([&] { ++woken; });
  EXPECT_EQ(woken, 1) << "something waits already";
  roster.tell("b", {{{"a", "http://10.0.0.5:2", false, 1}}, false});
  roster.tell("c", {{{"a", "http://10.0.0.5:3", false, 1}}, false});
  EXPECT_EQ(woken, 1);
  const auto told = roster.take();
  ASSERT_EQ(told.size(), 2U);
  EXPECT_EQ(told.at("b").list[0].url, "http://10.0.0.5:2");
  EXPECT_TRUE(roster.take().empty());
  roster.tell("b", {});
  EXPECT_EQ(woken, 2);
}

TEST(CollectorRosterTest, TheControllersThatTellAreBounded) {
  CollectorRoster roster;
  for (std::size_t i = 0; i <= CollectorRoster::kMaxControllers; ++i) {
    roster.tell(std::to_string(i), {});
  }
  EXPECT_EQ(roster.take().size(), CollectorRoster::kMaxControllers);
}

}  // namespace
}  // namespace pingloom::controller::collector_codec_test
