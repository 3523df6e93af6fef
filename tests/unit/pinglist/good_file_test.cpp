#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "pinglist/pinglist.h"

namespace pingloom::pinglist::good_file_test {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::vector<std::string> texts(const plan::AddressList& list) {
  std::vector<std::string> made;
  for (const IpAddress& address : list) made.push_back(address.text());
  return made;
}

Pinglist good(const std::string& text) {
  auto parsed = parse(text, "p.yaml");
  EXPECT_TRUE(parsed) << parsed.error().text();
  return parsed ? std::move(*parsed) : Pinglist();
}

// One udp mesh of these members.
Pinglist mesh(const std::string& members) {
  return good("version: 1\nprobes:\n  - { name: m, protocol: udp, mesh: " + members + " }\n");
}

const char* const kExample = R"(version: 1
defaults: { interval: 1s, timeout: 500ms, window: 10s }
hosts:
  gpu-001: { address: 10.0.0.1, rack: r1 }
  gpu-002: { addresses: { rail0: 10.0.0.2, rail1: 10.1.0.2 }, rack: r1 }
probes:
  - name: rack-r1
    protocol: udp
    mesh: [gpu-001, 10.0.0.2, "10.0.0.[3-64]"]
    interval: 200ms
  - name: gpu-to-storage
    protocol: tcp
    from: ["10.0.0.[1-8]", gpu-002/rail1]
    to:   [10.0.9.1, 10.0.9.2]
    traffic_class: 106
    port: 2049
)";

TEST(NativeForm, ReadsTheExample) {
  const Pinglist list = good(kExample);
  ASSERT_EQ(list.plan.probes.size(), 2U);
  plan::ProbeSpec rack;
  rack.name = rack.sources = rack.destinations = "rack-r1";
  rack.interval = 200 * kMillisecond;
  EXPECT_EQ(list.plan.probes[0], rack);
  plan::ProbeSpec storage;
  storage.name = "gpu-to-storage";
  storage.protocol = Protocol::kTcp;
  storage.sources = "gpu-to-storage/from";
  storage.destinations = "gpu-to-storage/to";
  storage.traffic_class = 106;
  storage.port = 2049;
  EXPECT_EQ(list.plan.probes[1], storage);
  EXPECT_EQ(list.plan.list("rack-r1").size(), 64U);
  EXPECT_EQ(list.plan.list("gpu-to-storage/from").size(), 9U);
  EXPECT_EQ(list.plan.lists.size(), 3U);
  EXPECT_THAT(list.warnings, IsEmpty());
}

TEST(NativeForm, KeepsNamesAndPlaces) {
  const Pinglist list = good(kExample);
  ASSERT_EQ(list.hosts.size(), 2U);
  EXPECT_EQ(list.hosts[0].name, "gpu-001");
  EXPECT_EQ(list.hosts[0].labels.at("rack"), "r1");
  EXPECT_EQ(list.hosts[0].addresses[0].first, "");
  EXPECT_EQ(list.hosts[1].addresses[1].first, "rail1");
  EXPECT_EQ(list.nameOf(*IpAddress::parse("10.0.0.1")), "gpu-001");
  EXPECT_EQ(list.nameOf(*IpAddress::parse("10.1.0.2")), "gpu-002/rail1");
  EXPECT_EQ(list.nameOf(*IpAddress::parse("10.0.0.3")), "10.0.0.3");
}

const char* const kMaintained = R"(version: 1
hosts:
  gpu-1: { address: 10.0.0.1, maintenance: true }
  gpu-2: { address: 10.0.0.2, maintenance: 2026-11-30T06:00:00Z, rack: r1 }
  gpu-3: { address: 10.0.0.3, maintenance: "2026-11-30T06:00:00+01:00" }
  gpu-4: { address: 10.0.0.4, maintenance: false }
  gpu-5: { address: 10.0.0.5 }
probes: [{ name: m, protocol: udp, mesh: ["10.0.0.[1-5]"] }]
)";
constexpr Nanos kEndOfMaintenance = 1'796'018'400 * kSecond;  // 2026-11-30T06:00:00Z

TEST(NativeForm, ReadsMaintenance) {
  const Pinglist list = good(kMaintained);
  ASSERT_EQ(list.hosts.size(), 5U);
  EXPECT_EQ(list.hosts[0].maintenance_until, kNever);
  EXPECT_EQ(list.hosts[1].maintenance_until, kEndOfMaintenance);
  EXPECT_EQ(list.hosts[2].maintenance_until, kEndOfMaintenance - kHour);
  EXPECT_EQ(list.hosts[3].maintenance_until, std::nullopt);
  EXPECT_EQ(list.hosts[4].maintenance_until, std::nullopt);
  EXPECT_EQ(list.hosts[1].labels.size(), 1U) << "maintenance is no label";
  EXPECT_THAT(list.warnings, IsEmpty()) << "no time was passed in";
}

TEST(NativeForm, WarnsOfMaintenanceThatIsOver) {
  const auto at = [](Nanos now_utc) {
    return parse(kMaintained, "p.yaml", now_utc).value().warnings;
  };
  EXPECT_THAT(at(kEndOfMaintenance - 2 * kHour), IsEmpty());
  EXPECT_THAT(at(kEndOfMaintenance - 1),
              ElementsAre("p.yaml:5:44: the maintenance of host 'gpu-3' ended at "
                          "2026-11-30T05:00:00Z: remove it"));
  EXPECT_EQ(at(kEndOfMaintenance).size(), 2U) << "it ends at this time";
}

TEST(NativeForm, NamesAndLabelsAreFreeText) {
  const Pinglist list = good(
      "version: 1\nhosts:\n"
      "  'R\xC3\xB6ntgen #1 [old]': { address: 10.0.0.1, 'wei\xC3\x9F nicht': \"<b>&'\", note: '' "
      "}\n"
      "  only: { addresses: { rail0: 10.0.0.2 } }\n"
      "probes:\n  - { name: m, protocol: udp, mesh: ['R\xC3\xB6ntgen #1 [old]', only] }\n");
  EXPECT_THAT(texts(list.plan.list("m")), ElementsAre("10.0.0.1", "10.0.0.2"));
  EXPECT_EQ(list.hosts.at(0).labels.at("wei\xC3\x9F nicht"), "<b>&'");
  EXPECT_EQ(list.hosts.at(0).labels.at("note"), "");
}

// Names and labels as long as they may be; one behind a '?', as YAML wants keys of more than 1024.
TEST(NativeForm, NamesAndLabelsMayBeLong) {
  const std::string name(4096, 'n');
  const std::string value(4096, 'v');
  const Pinglist list =
      good("version: 1\nhosts:\n  ? " + name + "\n  : { address: 10.0.0.1, rack: " + value +
           " }\nprobes:\n  - { name: m, protocol: udp, mesh: [" + name + ", 10.0.0.2] }\n");
  EXPECT_EQ(list.nameOf(*IpAddress::parse("10.0.0.1")), name);
  EXPECT_EQ(list.hosts.at(0).labels.at("rack"), value);
  EXPECT_THAT(texts(list.plan.list("m")), ElementsAre("10.0.0.1", "10.0.0.2"));
}

TEST(NativeForm, WhatIsSaidOfAFileIsShort) {
  const std::string name(4096, 'n');
  const auto parsed = parse(
      "version: 1\nhosts: {}\nprobes:\n  - { name: m, protocol: udp, mesh: [" + name + "] }\n",
      "p.yaml");
  ASSERT_FALSE(parsed);
  EXPECT_EQ(parsed.error().reason.size(), kMaxComplaintBytes + 3);
  EXPECT_THAT(parsed.error().reason, testing::EndsWith("..."));
}

TEST(NativeForm, DefaultsHoldUnlessAProbeSaysOtherwise) {
  const Pinglist list = good(
      "version: 1\n"
      "defaults: { interval: 2s, timeout: 3s, window: 20s, traffic_class: 8, payload: 128 }\n"
      "probes:\n"
      "  - { name: a, protocol: udp, mesh: [10.0.0.1, 10.0.0.2] }\n"
      "  - { name: b, protocol: udp, mesh: [10.0.0.1, 10.0.0.2], interval: 20s, payload: 56,"
      " self: true }\n");
  const auto& a = list.plan.probes.at(0);
  EXPECT_EQ(a.interval, 2 * kSecond);
  EXPECT_EQ(a.timeout, 3 * kSecond) << "a timeout may exceed the interval";
  EXPECT_EQ(a.window, 20 * kSecond);
  EXPECT_EQ(a.traffic_class, 8U);
  EXPECT_EQ(a.payload, 128U);
  EXPECT_FALSE(a.self);
  const auto& b = list.plan.probes.at(1);
  EXPECT_EQ(b.interval, 20 * kSecond) << "as long as the window";
  EXPECT_EQ(b.payload, 56U);
  EXPECT_TRUE(b.self);
}

TEST(NativeForm, AliasesShareLists) {
  const Pinglist list = good(
      "version: 1\nprobes:\n"
      "  - { name: a, protocol: udp, mesh: &rack ['10.0.0.[1-4]'] }\n"
      "  - { name: b, protocol: tcp, mesh: *rack }\n");
  EXPECT_EQ(list.plan.list("a"), list.plan.list("b"));
}

TEST(NativeForm, WarnsAboutWhatIsOdd) {
  const Pinglist list = good(
      "version: 1\nprobes:\n"
      "  - { name: a, protocol: rdma, mesh: [10.0.0.1, 10.0.0.2] }\n"
      "  - { name: b, protocol: tcp, mesh: [10.0.0.1, 10.0.0.2], payload: 100 }\n"
      "  - { name: c, protocol: udp, mesh: [10.0.0.1] }\n"
      "  - { name: d, protocol: udp, from: [10.0.0.1], to: ['fd00::1'] }\n"
      "  - { name: e, protocol: udp, mesh: [10.0.0.1], self: true }\n");
  EXPECT_THAT(list.warnings,
              ElementsAre("p.yaml:4:68: 'payload' has no effect on tcp: a connect carries no data",
                          "p.yaml:5:13: probe 'c' has no pairs: it names one address only",
                          HasSubstr("p.yaml:6:13: probe 'd' has no pairs: its sources and")));
}

TEST(NativeForm, RdmaMayHavePaths) {
  const Pinglist list = good(
      "version: 1\nprobes:\n"
      "  - { name: a, protocol: rdma, mesh: [10.0.0.1, 10.0.0.2], paths: 128 }\n"
      "  - { name: b, protocol: rdma, mesh: [10.0.0.1, 10.0.0.2] }\n");
  EXPECT_EQ(list.plan.probes[0].paths, plan::kMaxPaths);
  EXPECT_EQ(list.plan.probes[1].paths, 1U);
  EXPECT_THAT(list.warnings, IsEmpty());
}

TEST(NativeForm, NoProbesAreAllowedWhenWritten) {
  const Pinglist list = good("version: 1\nprobes: []\n");
  EXPECT_THAT(list.warnings, ElementsAre(HasSubstr("nothing is probed")));
}

TEST(Members, AreCanonicalSortedAndUnique) {
  const Pinglist list =
      mesh("['fd00:0::0002', 10.0.0.10, '::ffff:10.0.0.9', 10.0.0.9, 'FD00::1', '10.0.0.[9-11]']");
  EXPECT_THAT(texts(list.plan.list("m")),
              ElementsAre("10.0.0.9", "10.0.0.10", "10.0.0.11", "fd00::1", "fd00::2"));
  EXPECT_THAT(list.warnings,
              ElementsAre(HasSubstr("10.0.0.9 is in this list already; counted once"),
                          HasSubstr("10.0.0.9 and 1 more are in this list already")));
  EXPECT_EQ(list.warnings[0].rfind("p.yaml:3:", 0), 0U) << list.warnings[0];
}

TEST(Members, RangesInEveryPlace) {
  EXPECT_THAT(texts(mesh("['10.0.0.[3-5]']").plan.list("m")),
              ElementsAre("10.0.0.3", "10.0.0.4", "10.0.0.5"));
  EXPECT_THAT(texts(mesh("['10.[0-1].0.[1-2]']").plan.list("m")),
              ElementsAre("10.0.0.1", "10.0.0.2", "10.1.0.1", "10.1.0.2"));
  EXPECT_THAT(texts(mesh("['[10-11].0.0.7']").plan.list("m")), ElementsAre("10.0.0.7", "11.0.0.7"));
  EXPECT_THAT(texts(mesh("['fd00::[9-b]']").plan.list("m")),
              ElementsAre("fd00::9", "fd00::a", "fd00::b"));
  EXPECT_THAT(texts(mesh("['fd00:[fffe-FFFF]::1']").plan.list("m")),
              ElementsAre("fd00:fffe::1", "fd00:ffff::1"));
  EXPECT_THAT(texts(mesh("['::ffff:10.0.0.[9-10]']").plan.list("m")),
              ElementsAre("10.0.0.9", "10.0.0.10"))
      << "decimal where the address is dotted";
  EXPECT_EQ(mesh("['10.0.0.[7-7]', 10.0.0.8]").plan.list("m").size(), 2U);
  EXPECT_EQ(mesh("['fd00::[1-ff]']").plan.list("m").size(), 255U);
}

TEST(Members, TheLargestList) {
  const Pinglist list = mesh("['10.[0-15].[0-255].[0-255]']");
  EXPECT_EQ(list.plan.list("m").size(), 1U << 20);
  EXPECT_TRUE(std::is_sorted(list.plan.list("m").begin(), list.plan.list("m").end()));
}

TEST(Members, WarningsAreBounded) {
  std::string members = "[10.0.0.1";
  for (int i = 0; i < 500; ++i) members += ", 10.0.0.1";
  const Pinglist list = mesh(members + "]");
  ASSERT_EQ(list.warnings.size(), 101U);
  EXPECT_EQ(list.warnings.back(), "and 401 more warnings") << "400 of the list, one of the pair";
}

TEST(PingWeaveForm, EachGroupIsAProbe) {
  const Pinglist list = good(R"(mesh:
  udp:
    rack1:
      - 10.0.0.2
      - 10.0.0.1
  roce:
    rail0: [10.1.0.1, 10.1.0.2]
  ib:
    rail0: [10.2.0.1, 10.2.0.2]
arrow:
  tcp:
    storage:
      src: [10.0.0.1, 10.0.0.2]
      dst: [10.0.9.1, 10.0.0.1]
)");
  ASSERT_EQ(list.plan.probes.size(), 4U);
  plan::ProbeSpec udp;
  udp.name = udp.sources = udp.destinations = "udp-rack1";
  udp.self = true;
  udp.timeout = kSecond;
  EXPECT_EQ(list.plan.probes[0], udp) << "self-pings, and otherwise pingloom's own defaults";
  EXPECT_EQ(list.plan.probes[1].name, "roce-rail0");
  EXPECT_EQ(list.plan.probes[1].protocol, Protocol::kRdma);
  EXPECT_EQ(list.plan.probes[2].name, "ib-rail0");
  EXPECT_EQ(list.plan.probes[2].protocol, Protocol::kRdma);
  EXPECT_EQ(list.plan.probes[3].name, "tcp-storage");
  EXPECT_EQ(list.plan.probes[3].protocol, Protocol::kTcp);
  EXPECT_EQ(list.plan.probes[3].sources, "tcp-storage/from");
  EXPECT_TRUE(list.plan.probes[3].self);
  EXPECT_THAT(texts(list.plan.list("udp-rack1")), ElementsAre("10.0.0.1", "10.0.0.2"));
  EXPECT_THAT(texts(list.plan.list("tcp-storage/to")), ElementsAre("10.0.0.1", "10.0.9.1"));
  EXPECT_THAT(list.warnings, testing::Contains(testing::HasSubstr("read as PingWeave's")))
      << "what means something else here is said";
}

TEST(PingWeaveForm, HasPingWeavesOwnSettings) {
  const Pinglist list = good(R"(mesh:
  udp: { g: [10.0.0.1, 10.0.0.2] }
  tcp: { g: [10.0.0.1, 10.0.0.2] }
  roce: { g: [10.1.0.1, 10.1.0.2] }
  ib: { g: [10.2.0.1, 10.2.0.2] }
)");
  std::vector<std::uint32_t> classes;
  for (const plan::ProbeSpec& probe : list.plan.probes) {
    EXPECT_EQ(probe.timeout, kSecond);
    EXPECT_EQ(probe.interval, kSecond);
    EXPECT_EQ(probe.window, 10 * kSecond);
    classes.push_back(probe.traffic_class);
  }
  EXPECT_THAT(classes, ElementsAre(0U, 0U, 106U, 0U));
}

TEST(PingWeaveForm, PlaceholdersAreIgnored) {
  const Pinglist list = good(R"(mesh:
  udp:
    used: [10.0.0.1, 0.0.0.0, 10.0.0.2]
    dummy: [0.0.0.0]
    commented:
  tcp:
arrow:
  tcp:
    half: { src: [10.0.0.1], dst: [0.0.0.0] }
)");
  ASSERT_EQ(list.plan.probes.size(), 1U);
  EXPECT_THAT(texts(list.plan.list("udp-used")), ElementsAre("10.0.0.1", "10.0.0.2"));
  EXPECT_THAT(list.warnings, ElementsAre("p.yaml:3:22: the placeholder 0.0.0.0 is ignored",
                                         "p.yaml:4:13: the placeholder 0.0.0.0 is ignored",
                                         "p.yaml:4:5: group 'dummy' has only placeholders: ignored",
                                         "p.yaml:5:5: group 'commented' has no members: ignored",
                                         "p.yaml:6:3: 'tcp' has no groups: ignored",
                                         "p.yaml:9:36: the placeholder 0.0.0.0 is ignored",
                                         "p.yaml:9:5: group 'half' has only placeholders: ignored",
                                         HasSubstr("p.yaml:1:1: read as PingWeave's"),
                                         HasSubstr("'failure'"), HasSubstr("fixed times")));
}

TEST(PingWeaveForm, GroupNamesBecomeProbeNames) {
  const Pinglist list = good(
      "mesh:\n  udp:\n    'rack 1/r\xC3\xB6w': [10.0.0.1, 10.0.0.2]\n    2: [10.0.0.1, "
      "10.0.0.2]\n");
  EXPECT_EQ(list.plan.probes.at(0).name, "udp-rack_1_r_w");
  EXPECT_EQ(list.plan.probes.at(1).name, "udp-2");
  EXPECT_THAT(list.warnings, Contains(HasSubstr("p.yaml:3:5: group 'rack 1/r\xC3\xB6w' becomes "
                                                "probe 'udp-rack_1_r_w'")));
}

TEST(PingWeaveForm, DifferencesInMeaningAreWarnings) {
  const Pinglist list = good(R"(mesh:
  udp:
    a: [10.0.0.1, 10.0.0.2, 10.0.0.3]
    b: [10.0.0.2, 10.0.0.3, 10.0.0.4]
    c: [10.0.0.4, 10.0.0.5]
  tcp:
    a: [10.0.0.1, 10.0.0.2, 10.0.0.3]
arrow:
  udp:
    d: { src: [10.0.0.1], dst: [10.0.0.5] }
    e: { src: [10.0.0.4], dst: [10.0.0.5] }
)");
  EXPECT_THAT(list.warnings,
              ElementsAre("p.yaml:4:5: group 'b' has pairs that group 'a' has too: both ping them, "
                          "and PingWeave only once",
                          HasSubstr("p.yaml:11:5: group 'e' has pairs that group 'c'"),
                          HasSubstr("pingweave.ini is not read"), HasSubstr("'weird' is anomalous"),
                          HasSubstr("multiples of the mesh's median")));
}

std::string thresholdOf(const Pinglist& list, std::size_t probe, Figure figure) {
  const Threshold& threshold = list.thresholds.at(probe)[figure];
  return threshold.warn.text() + " " + threshold.crit.text();
}

const char* const kTwoProbes = R"(version: 1
defaults: { thresholds: { network: { warn: 2x, crit: 0.2ms }, loss: { warn: 2% }, enter: 2 of 3 } }
probes:
  - { name: a, protocol: udp, mesh: [10.0.0.1, 10.0.0.2] }
  - name: b
    protocol: udp
    mesh: [10.0.0.1, 10.0.0.2]
    thresholds: { network: { crit: none }, loss: { crit: 2.5% }, jitter: { warn: 50us }, leave: 8 of 8 }
)";

TEST(Thresholds, AProbesOwnGoBeforeTheDefaultsAndTheUsual) {
  const Pinglist list = good(kTwoProbes);
  EXPECT_EQ(thresholdOf(list, 0, Figure::kNetwork), "2x 200us");
  EXPECT_EQ(thresholdOf(list, 0, Figure::kRtt), "3x 10x");
  EXPECT_EQ(thresholdOf(list, 0, Figure::kLoss), "2% 50%");
  EXPECT_EQ(thresholdOf(list, 0, Figure::kAnomalous), "20% 50%");
  EXPECT_EQ(thresholdOf(list, 1, Figure::kNetwork), "2x ");
  EXPECT_EQ(thresholdOf(list, 1, Figure::kLoss), "2% 2.5%");
  EXPECT_EQ(thresholdOf(list, 1, Figure::kJitter), "50us 10x");
  EXPECT_EQ(list.thresholds[0].enter, (WindowCount{2, 3}));
  EXPECT_EQ(list.thresholds[0].leave, (WindowCount{5, 5}));
  EXPECT_EQ(list.thresholds[1].enter, (WindowCount{2, 3}));
  EXPECT_EQ(list.thresholds[1].leave, (WindowCount{8, 8}));
  EXPECT_EQ(
      describe(list.thresholds[1]),
      "network warn 2x crit none, jitter warn 50us crit 10x, loss warn 2% crit 2.5%, enter 2 of "
      "3, leave 8 of 8");
  EXPECT_EQ(describe(Thresholds{}), "");
}

TEST(Thresholds, AreNotWhatAgentsHaveToKnow) {
  std::string other = kTwoProbes;
  other.replace(other.find("50us"), 4, "60us");
  const Pinglist before = good(kTwoProbes);
  const Pinglist after = good(other);
  EXPECT_NE(before.thresholds, after.thresholds);
  EXPECT_EQ(plan::hash(before.plan), plan::hash(after.plan));
}

TEST(Thresholds, OfPingWeavesProbesAreTheUsual) {
  const Pinglist list = good("mesh:\n  udp:\n    g: [10.0.0.1, 10.0.0.2]\n");
  EXPECT_EQ(list.thresholds, std::vector<Thresholds>{Thresholds{}});
}

TEST(Rollup, AProbesOwnGoesBeforeTheDefaults) {
  const Pinglist list = good(R"(version: 1
defaults: { rollup: rack }
hosts:
  a: { address: 10.0.0.1, rack: r1 }
  b: { addresses: { up: 10.0.0.2, down: 10.1.0.2 } }
probes:
  - { name: usual, protocol: udp, mesh: [a, b/up] }
  - { name: rails, protocol: udp, mesh: [a, b/up], rollup: rail }
  - { name: none, protocol: udp, mesh: [a, b/up], rollup: none }
)");
  EXPECT_THAT(list.rollups, ElementsAre("rack", "rail", ""));
  EXPECT_THAT(good("mesh:\n  udp:\n    g: [10.0.0.1, 10.0.0.2]\n").rollups, ElementsAre(""));
}

TEST(Load, SaysWhatItCannotRead) {
  const auto missing = load("/nonexistent/pinglist.yaml");
  ASSERT_FALSE(missing);
  EXPECT_THAT(missing.error().text(), HasSubstr("/nonexistent/pinglist.yaml"));
}

}  // namespace
}  // namespace pingloom::pinglist::good_file_test
