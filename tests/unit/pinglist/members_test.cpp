// Registered agents as members: which of them, with which addresses, and what the file may say.
#include "pinglist/members.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace pingloom::pinglist::members_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr Nanos kNow = 1'000'000 * kSecond;

IpAddress ip(const std::string& text) { return *IpAddress::parse(text); }

Member member(const std::string& host, const std::vector<std::string>& addresses,
              Nanos joined_utc = 1) {
  Member made;
  made.host = host;
  for (const std::string& address : addresses) made.addresses.push_back(ip(address));
  std::sort(made.addresses.begin(), made.addresses.end());
  made.joined_utc = joined_utc;
  return made;
}

Member withDevice(Member made) {
  made.rdma = made.addresses;
  return made;
}

Pinglist parsed(const std::string& text) {
  auto made = parse("version: 1\n" + text, "p.yaml");
  EXPECT_TRUE(made) << made.error().text();
  return made ? std::move(*made) : Pinglist{};
}

Pinglist mesh(const std::string& members, const std::string& protocol = "udp") {
  return parsed("probes:\n  - { name: m, protocol: " + protocol + ", mesh: " + members + " }\n");
}

std::vector<std::string> listOf(const Pinglist& pinglist, const std::string& name = "m") {
  std::vector<std::string> texts;
  for (const IpAddress& address : pinglist.plan.list(name)) texts.push_back(address.text());
  return texts;
}

std::string errorOf(const std::string& text) {
  const auto made = parse("version: 1\n" + text, "p.yaml");
  return made ? "valid" : made.error().text();
}

TEST(Members, EveryRegisteredAgentIsOneAndOthersMayStandBeside) {
  const Pinglist file = mesh("[registered, 10.9.9.9]");
  EXPECT_THAT(file.warnings, IsEmpty());
  const Expansion made = expand(file, {member("b", {"10.0.0.2"}), member("a", {"10.0.0.1"})}, kNow);
  EXPECT_THAT(listOf(made.pinglist), ElementsAre("10.0.0.1", "10.0.0.2", "10.9.9.9"));
  EXPECT_TRUE(made.pinglist.registered.empty());
  EXPECT_EQ(made.pinglist.nameOf(ip("10.0.0.2")), "b");
  EXPECT_EQ(made.pinglist.nameOf(ip("10.9.9.9")), "10.9.9.9");
}

TEST(Members, TheGroupOfTheFirstPinglist) {
  const Pinglist file = parsed(
      "groups:\n  all: { members: registered }\n"
      "probes:\n  - { name: m, protocol: udp, mesh: all, self: true }\n");
  EXPECT_THAT(listOf(expand(file, {member("a", {"10.0.0.1"})}, kNow).pinglist),
              ElementsAre("10.0.0.1"));
}

TEST(Members, AProbeMayNameThemItself) {
  const Pinglist file = parsed("probes:\n  - { name: m, protocol: udp, members: registered }\n");
  EXPECT_THAT(listOf(expand(file, {member("a", {"10.0.0.1"})}, kNow).pinglist),
              ElementsAre("10.0.0.1"));
}

TEST(Members, AProbeIsLeftOutUntilThereIsOne) {
  const Pinglist file = parsed(
      "probes:\n  - { name: m, protocol: udp, mesh: registered, thresholds: { loss: { warn: 2% } } "
      "}\n"
      "  - { name: n, protocol: udp, mesh: [10.0.0.1, 10.0.0.2] }\n");
  const Expansion made = expand(file, {}, kNow);
  ASSERT_EQ(made.pinglist.plan.probes.size(), 1U);
  EXPECT_EQ(made.pinglist.plan.probes[0].name, "n");
  EXPECT_EQ(made.pinglist.thresholds, std::vector<Thresholds>{file.thresholds[1]});
  EXPECT_FALSE(made.pinglist.plan.lists.contains("m"));
}

TEST(Members, OneAddressOfEachAgentUnlessAllAreWanted) {
  const Member two = member("a", {"fd00::1", "10.1.0.1", "10.0.0.1"});
  EXPECT_THAT(listOf(expand(mesh("registered"), {two}, kNow).pinglist), ElementsAre("10.0.0.1"));
  const Expansion all = expand(mesh("[{ registered: { addresses: all } }]"), {two}, kNow);
  EXPECT_THAT(listOf(all.pinglist), ElementsAre("10.0.0.1", "10.1.0.1", "fd00::1"));
  EXPECT_EQ(all.pinglist.nameOf(ip("10.1.0.1")), "a/10.1.0.1");
  ASSERT_EQ(all.pinglist.hosts.size(), 1U);
  EXPECT_EQ(all.pinglist.hosts[0].addresses.size(), 3U);
}

TEST(Members, WithinNetworks) {
  const Member two = member("a", {"10.0.0.1", "10.1.255.1", "fd00::1"});
  const auto within = [&](const std::string& networks) {
    return listOf(
        expand(mesh("[{ registered: { within: " + networks + " } }]"), {two}, kNow).pinglist);
  };
  EXPECT_THAT(within("10.1.0.0/16"), ElementsAre("10.1.255.1"));
  EXPECT_THAT(within("10.1.128.0/17"), ElementsAre("10.1.255.1"));
  EXPECT_THAT(within("10.1.0.0/17"), IsEmpty());
  EXPECT_THAT(within("'::/0'"), ElementsAre("fd00::1"));
  EXPECT_THAT(within("[10.9.0.0/16, 'fd00::/8']"), ElementsAre("fd00::1"));
  EXPECT_THAT(within("0.0.0.0/0"), ElementsAre("10.0.0.1"));
}

TEST(Members, LabelsAreThoseOfTheFile) {
  const Pinglist file = parsed(
      "hosts:\n  x: { address: 10.0.0.1, rack: r1, row: '1' }\n  y: { address: 10.0.0.2, rack: r2 "
      "}\n"
      "probes:\n  - { name: m, protocol: udp, mesh: [{ registered: { labels: { rack: r1 } } }] "
      "}\n");
  const std::vector<Member> members = {member("a", {"10.0.0.1"}), member("b", {"10.0.0.2"}),
                                       member("c", {"10.0.0.3"})};
  const Expansion made = expand(file, members, kNow);
  EXPECT_THAT(listOf(made.pinglist), ElementsAre("10.0.0.1"));
  EXPECT_EQ(made.pinglist.nameOf(ip("10.0.0.1")), "x") << "the file's name stays";
  EXPECT_EQ(made.pinglist.hosts.size(), 2U);
}

TEST(Members, BeyondTheCapTheLatestAreLeftOutWhateverTheOrder) {
  const Pinglist file = mesh("[{ registered: { max: 2 } }]");
  std::vector<Member> members = {member("late", {"10.0.0.1"}, 3), member("b", {"10.0.0.3"}, 1),
                                 member("a", {"10.0.0.2"}, 1)};
  Expansion made = expand(file, members, kNow);
  EXPECT_THAT(listOf(made.pinglist), ElementsAre("10.0.0.2", "10.0.0.3"));
  ASSERT_EQ(made.warnings.size(), 1U);
  EXPECT_THAT(made.warnings[0], HasSubstr("max: 2"));
  EXPECT_THAT(made.warnings[0], HasSubstr("late"));
  std::reverse(members.begin(), members.end());
  EXPECT_THAT(listOf(expand(file, members, kNow).pinglist), ElementsAre("10.0.0.2", "10.0.0.3"));
}

TEST(Members, AnAgentThatIsAwayStaysUntilItIsForgotten) {
  const Pinglist file = mesh("[{ registered: { forget: 1h } }]");
  Member away = member("a", {"10.0.0.1"});
  away.gone_utc = kNow - kHour;
  EXPECT_THAT(listOf(expand(file, {away}, kNow).pinglist), ElementsAre("10.0.0.1"));
  EXPECT_TRUE(expand(file, {away}, kNow + 1).pinglist.plan.probes.empty());
  EXPECT_EQ(longestForget(file), kHour);
  EXPECT_EQ(longestForget(mesh("[10.0.0.1]")), 0);
}

TEST(Members, AnRdmaProbeHasOnlyThoseWithADevice) {
  const std::vector<Member> members = {withDevice(member("a", {"10.0.0.1"})),
                                       member("b", {"10.0.0.2"})};
  const Expansion made = expand(mesh("registered", "rdma"), members, kNow);
  EXPECT_THAT(listOf(made.pinglist), ElementsAre("10.0.0.1"));
  EXPECT_THAT(made.warnings, IsEmpty());
  ASSERT_EQ(made.notes.size(), 1U);
  EXPECT_THAT(made.notes[0], HasSubstr("without an RDMA device are left out: b"));
  Member rail = member("c", {"10.0.0.3", "10.1.0.3"});
  rail.rdma = {ip("10.1.0.3")};
  EXPECT_THAT(listOf(expand(mesh("registered", "rdma"), {rail}, kNow).pinglist),
              ElementsAre("10.1.0.3"))
      << "the first of those that have a device";
}

TEST(Members, NoAddressThatCannotBeProbedAndNoNameThatMeansSomethingElse) {
  const std::vector<Member> members = {member("m", {"224.0.0.1", "255.255.255.255"}),
                                       member("10.0.0.9", {"10.0.0.1"}),
                                       member("x\xff", {"10.0.0.2"}), member("x", {"10.0.0.3"})};
  const Pinglist file = parsed(
      "hosts: { x: { address: 10.7.0.1 } }\nprobes: [{ name: m, protocol: udp, mesh: registered "
      "}]\n");
  const Expansion made = expand(file, members, kNow);
  EXPECT_THAT(listOf(made.pinglist), ElementsAre("10.0.0.1", "10.0.0.2", "10.0.0.3"));
  for (const std::string address : {"10.0.0.1", "10.0.0.2", "10.0.0.3"}) {
    EXPECT_EQ(made.pinglist.nameOf(ip(address)), address);
  }
}

TEST(Members, BothSidesOfADirectedProbe) {
  const Pinglist file = parsed(
      "groups: { all: { members: [registered, 10.0.0.1] } }\n"
      "probes:\n  - { name: m, protocol: tcp, from: all, to: [10.9.0.1, all], port: 80 }\n");
  const Expansion made = expand(file, {member("b", {"10.0.0.2"})}, kNow);
  EXPECT_THAT(listOf(made.pinglist, "m/from"), ElementsAre("10.0.0.1", "10.0.0.2"));
  EXPECT_THAT(listOf(made.pinglist, "m/to"), ElementsAre("10.0.0.1", "10.0.0.2", "10.9.0.1"));
}

TEST(Members, AFileWithoutThemIsUnchanged) {
  const Pinglist file = mesh("['10.0.0.[1-3]']");
  const Expansion made = expand(file, {member("a", {"10.0.0.9"})}, kNow);
  EXPECT_EQ(plan::hash(made.pinglist.plan), plan::hash(file.plan));
  EXPECT_TRUE(made.pinglist.hosts.empty());
}

TEST(Members, MistakesInTheEntry) {
  const auto entry = [](const std::string& text) {
    return errorOf("probes:\n  - { name: m, protocol: udp, mesh: [{ registered: " + text +
                   " }] }\n");
  };
  EXPECT_THAT(entry("{ max: 0 }"), HasSubstr("p.yaml:3:"));
  EXPECT_THAT(entry("{ max: 70000 }"), HasSubstr("65536"));
  EXPECT_THAT(entry("{ mx: 3 }"), HasSubstr("did you mean 'max'?"));
  EXPECT_THAT(entry("{ within: 10.0.0.1 }"), HasSubstr("write ADDRESS/BITS"));
  EXPECT_THAT(entry("{ within: 10.0.0.0/33 }"), HasSubstr("0 to 32 bits"));
  EXPECT_THAT(entry("{ within: [] }"), HasSubstr("1 to 64 networks"));
  EXPECT_THAT(entry("{ labels: r1 }"), HasSubstr("expected labels"));
  EXPECT_THAT(entry("{ addresses: some }"), HasSubstr("write first or all"));
  EXPECT_THAT(entry("{ forget: 1s }"), HasSubstr("from 5s to"));
  EXPECT_THAT(errorOf("probes:\n  - { name: m, protocol: udp, mesh: [{ registred: {} }] }\n"),
              HasSubstr("did you mean 'registered'?"));
  EXPECT_THAT(errorOf("probes:\n  - { name: m, protocol: udp, mesh: al }\n"),
              HasSubstr("expected a list of addresses"));
  EXPECT_THAT(
      errorOf("probes:\n  - { name: m, protocol: udp, mesh: [10.0.0.1], members: registered }\n"),
      HasSubstr("means the same as 'mesh'"));
}

TEST(Members, MistakesInGroups) {
  const auto groups = [](const std::string& text) {
    return errorOf("hosts: { h: { address: 10.0.0.1 } }\ngroups: " + text + "\nprobes: []\n");
  };
  EXPECT_THAT(groups("[a]"), HasSubstr("expected groups"));
  EXPECT_THAT(groups("{ a: [10.0.0.1] }"), HasSubstr("expected 'members:'"));
  EXPECT_THAT(groups("{ a: { member: [10.0.0.1] } }"), HasSubstr("did you mean 'members'?"));
  EXPECT_THAT(groups("{ a: {} }"), HasSubstr("no 'members'"));
  EXPECT_THAT(groups("{ a: { members: [] } }"), HasSubstr("is empty"));
  EXPECT_THAT(groups("{ h: { members: registered } }"), HasSubstr("is a host's name already"));
  EXPECT_THAT(groups("{ registered: { members: [10.0.0.1] } }"),
              HasSubstr("stands for all agents"));
  EXPECT_THAT(groups("{ 10.0.0.1: { members: [10.0.0.1] } }"), HasSubstr("no group name"));
  EXPECT_THAT(groups("{ a: { members: [10.0.0.1] }, b: { members: [a] } }"),
              HasSubstr("'a' is neither"));
}

}  // namespace
}  // namespace pingloom::pinglist::members_test
