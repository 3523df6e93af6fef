#include "translator/reporter_rules.h"

#include <gtest/gtest.h>

#include "taken.h"

namespace pingloom::translator::reporter_rules_test {
namespace {

using test::kLatest;
using test::kOther;
using test::kRemote;
using test::Taken;
using wire::ReportRefusal;

constexpr wire::ReportKey kKey = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16};

ReporterSpec spec(std::uint32_t id, const std::vector<std::string>& addresses) {
  ReporterSpec made;
  made.id = id;
  made.addresses = {};
  for (const std::string& address : addresses) EXPECT_TRUE(made.addresses.add(address));
  return made;
}

void permit(Taken& taken, const ReporterSpecs& specs) {
  taken.intake().setRules(std::make_unique<ReporterRules>(specs));
}

TEST(ReporterRules, NumberAndAddressHaveToMatch) {
  Taken taken;
  permit(taken, {spec(1, {"10.1.0.0/16"}), spec(2, {"10.2.0.1"})});
  taken.take(Taken::datagram(1, 1), kRemote);
  EXPECT_EQ(taken.newlyAccepted(), 1U);
  taken.take(Taken::datagram(2, 1), kRemote);
  taken.take(Taken::datagram(3, 1), kRemote);
  taken.take(Taken::datagram(1, 1));
  EXPECT_EQ(taken.newlyAccepted(), 0U);
  EXPECT_EQ(taken.refused(ReportRefusal::kUnknownReporter), 3U);
}

TEST(ReporterRules, WithoutThemOnlyThisHostReports) {
  Taken taken;
  taken.take(Taken::datagram(1, 1));
  taken.take(Taken::datagram(77, 1));
  EXPECT_EQ(taken.newlyAccepted(), 2U);
  taken.take(Taken::datagram(2, 1), kRemote);
  EXPECT_EQ(taken.refused(ReportRefusal::kUnknownReporter), 1U);
}

TEST(ReporterRules, OtherTablesAreForbidden) {
  Taken taken;
  auto named = spec(1, {"127.0.0.1"});
  named.tables = {"other"};
  auto numbered = spec(2, {"127.0.0.1"});
  numbered.tables = {"7", "not there"};
  permit(taken, {named, numbered});
  taken.take(Taken::datagram(1, 1, {kLatest, kOther, kOther, 99}));
  EXPECT_EQ(taken.newlyAccepted(), 2U);
  EXPECT_EQ(taken.refused(ReportRefusal::kForbidden), 2U);
  taken.take(Taken::datagram(2, 1, {kLatest, kOther}));
  EXPECT_EQ(taken.newlyAccepted(), 1U);
  EXPECT_EQ(taken.refused(ReportRefusal::kForbidden), 3U);
}

TEST(ReporterRules, AKeyDemandsItsSeal) {
  Taken taken;
  auto sealing = spec(1, {"127.0.0.1"});
  sealing.key = kKey;
  permit(taken, {sealing, spec(2, {"127.0.0.1"})});
  const auto right = Taken::datagram(1, 1, {kLatest}, &kKey);
  for (std::size_t at = wire::kReportHeadBytes; at < right.size(); ++at) {
    auto damaged = right;
    damaged[at] ^= 1;
    taken.take(damaged);
  }
  EXPECT_EQ(taken.newlyAccepted(), 0U);
  EXPECT_EQ(taken.refused(ReportRefusal::kSeal) + taken.refused(ReportRefusal::kLength),
            right.size() - wire::kReportHeadBytes);
  wire::ReportKey other = kKey;
  other[15] ^= 0x80;
  const std::uint64_t before = taken.refused(ReportRefusal::kSeal);
  taken.take(Taken::datagram(1, 1, {kLatest}, &other));
  taken.take(Taken::datagram(1, 1));                    // no seal
  taken.take(Taken::datagram(2, 1, {kLatest}, &kKey));  // this one has no key
  EXPECT_EQ(taken.refused(ReportRefusal::kSeal) - before, 3U);
  // What was refused has used no sequence.
  taken.take(right);
  EXPECT_EQ(taken.newlyAccepted(), 1U);
  EXPECT_EQ(taken.valueOf("key"), "value");
}

TEST(ReporterRules, MayChange) {
  Taken taken;
  taken.take(Taken::datagram(1, 1));
  permit(taken, {spec(2, {"127.0.0.1"})});
  taken.take(Taken::datagram(1, 2));
  EXPECT_EQ(taken.newlyAccepted(), 1U);
  auto back = spec(1, {"127.0.0.1"});
  back.tables = {"latest"};
  permit(taken, {back});
  taken.take(Taken::datagram(1, 2));
  EXPECT_EQ(taken.newlyAccepted(), 1U);
}

TEST(SourceAddresses, AreAddressesAndPrefixes) {
  SourceAddresses some;
  for (const char* text : {"10.0.0.1", "10.1.0.0/17", "fd00::/8", "2001:db8::1"}) {
    EXPECT_TRUE(some.add(text)) << text;
  }
  const auto has = [&](const char* text) { return some.contains(*IpAddress::parse(text)); };
  for (const char* in : {"10.0.0.1", "10.1.0.0", "10.1.127.255", "fdff::1", "2001:db8::1"}) {
    EXPECT_TRUE(has(in)) << in;
  }
  for (const char* out : {"10.0.0.2", "10.1.128.0", "9.1.0.0", "fe00::1", "2001:db8::2", "::1"}) {
    EXPECT_FALSE(has(out)) << out;
  }
  for (const char* bad : {"", "host", "10.0.0.1/", "10.0.0.1/33", "10.0.0.1/24", "10.0.0.0/-1",
                          "fd00::/129", "fd00::1/64", "10.0.0.0/8x"}) {
    EXPECT_FALSE(some.add(bad)) << bad;
  }
  EXPECT_FALSE(some.onlyLoopback());
  EXPECT_TRUE(some.add("0.0.0.0/0"));
  EXPECT_TRUE(has("10.0.0.2"));
  EXPECT_FALSE(has("::1"));
  SourceAddresses local = SourceAddresses::loopback();
  EXPECT_TRUE(local.add("127.1.0.0/16"));
  EXPECT_TRUE(local.onlyLoopback());
  EXPECT_TRUE(local.add("126.0.0.0/7"));
  EXPECT_FALSE(local.onlyLoopback()) << "half of it is not of this host";
  SourceAddresses full;
  for (std::size_t i = 0; i < SourceAddresses::kMax; ++i) EXPECT_TRUE(full.add("10.0.0.1"));
  EXPECT_FALSE(full.add("10.0.0.1"));
}

}  // namespace
}  // namespace pingloom::translator::reporter_rules_test
