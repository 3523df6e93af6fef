// Every way of getting a pinglist wrong, with the place and the reason that the operator gets.
#include <gtest/gtest.h>

#include "pinglist/pinglist.h"

namespace pingloom::pinglist::bad_file_test {
namespace {

struct BadFile {
  const char* title;
  std::string text;
  const char* place;   // without the file's name; "" where the file as a whole is meant
  const char* reason;  // a part of it
};

// A native pinglist; the probes start in line 3.
std::string probes(const std::string& text) { return "version: 1\nprobes:\n" + text; }
// One udp mesh of these members: line 4, from column 11.
std::string mesh(const std::string& members) {
  return probes("  - name: a\n    mesh: " + members + "\n    protocol: udp\n");
}
// A valid mesh with one more line, the sixth, which starts in column 5.
std::string with(const std::string& line, const std::string& protocol = "udp") {
  return probes("  - name: a\n    mesh: [10.0.0.1, 10.0.0.2]\n    protocol: " + protocol +
                "\n    " + line + "\n");
}
// The sixth line has the thresholds of a metric, from column 20.
std::string thresholds(const std::string& text) { return with("thresholds: {  " + text + " }"); }
// Hosts from line 3 on, and a mesh of `member`.
std::string hosts(const std::string& text, const std::string& member = "10.9.9.9") {
  return "version: 1\nhosts:\n" + text + "probes:\n  - name: a\n    protocol: udp\n    mesh: [" +
         member + "]\n";
}

// So many labels l0 to lN of a host, all with this value.
std::string labels(int count, const std::string& value) {
  std::string text = "    l0: &value " + value + "\n";
  for (int i = 1; i < count; ++i) text += "    l" + std::to_string(i) + ": *value\n";
  return text;
}
std::string manyAddresses(int count, const std::string& more) {
  std::string text = "  gpu-1:\n    addresses:\n";
  for (int i = 0; i < count; ++i) {
    text += "      r" + std::to_string(i) + ": 10.0.1." + std::to_string(i) + "\n";
  }
  return text + more;
}

// The name of the test.
void PrintTo(const BadFile& bad, std::ostream* out) { *out << bad.title; }  // NOLINT
std::string titleOf(const testing::TestParamInfo<BadFile>& info) { return info.param.title; }

class BadFiles : public testing::TestWithParam<BadFile> {};

TEST_P(BadFiles, SaysWhereAndWhy) {
  const BadFile& bad = GetParam();
  const auto parsed = parse(bad.text, "p.yaml");
  ASSERT_FALSE(parsed) << "was accepted:\n" << bad.text;
  const std::string place =
      *bad.place == '\0' ? std::string("p.yaml") : "p.yaml:" + std::string(bad.place);
  EXPECT_EQ(parsed.error().entity, place) << parsed.error().text() << "\n" << bad.text;
  EXPECT_NE(parsed.error().reason.find(bad.reason), std::string::npos)
      << "the reason is: " << parsed.error().reason;
}

std::string manyProbes() {
  std::string text = "version: 1\nprobes:\n";
  for (int i = 0; i < 1025; ++i) {
    text += "  - { name: p" + std::to_string(i) + ", protocol: udp, mesh: [10.0.0.1, 10.0.0.2] }\n";
  }
  return text;
}

const BadFile kWhole[] = {
    {"Empty", "", "", "empty"},
    {"OnlyComments", "# nothing\n", "", "empty"},
    {"NotAMap", "- a\n", "1:1", "expected a pinglist"},
    {"NotYaml", "version: 1\nprobes: [\n", "3:1", "flow"},
    {"TwoDocuments", "version: 1\n---\nversion: 1\n", "", "more than one YAML document"},
    {"NotUtf8", "version: 1\nhosts:\n  caf\xe9: {address: 10.0.0.1}\n", "3:6", "not UTF-8"},
    {"Utf16",
     std::string("\xff\xfe"
                 "a\0",
                 4),
     "1:1", "not UTF-8"},
    {"DeepNesting", std::string(100000, '['), "1:1", ""},
    {"NoVersion", "probes: []\n", "1:1", "'version: 1' is missing"},
    {"OtherVersion", "version: 2\nprobes: []\n", "1:10", "version '2' is not known"},
    {"VersionIsAList", "version: [1]\nprobes: []\n", "1:10", "expected a single value"},
    {"NoProbes", "version: 1\n", "1:1", "'probes' is missing"},
    {"ProbesAreNull", "version: 1\nprobes:\n", "2:1", "expected a list of probes"},
    {"UnknownTopKey", "version: 1\nprobess: []\n", "2:1", "did you mean 'probes'?"},
    {"KeyTwice", "version: 1\nprobes: []\nprobes: []\n", "3:1", "key 'probes' is here twice"},
    {"MeshAtTheTop", "version: 1\nprobes: []\nmesh: {}\n", "3:1", "unknown key 'mesh'"},
    {"DefaultsUnknownKey", "version: 1\ndefaults: { intervall: 1s }\nprobes: []\n", "2:13",
     "did you mean 'interval'?"},
    {"DefaultsPort", "version: 1\ndefaults: { port: 80 }\nprobes: []\n", "2:13",
     "unknown key 'port'"},
    {"DefaultsBadDuration", "version: 1\ndefaults: { interval: 1x }\nprobes: []\n", "2:23",
     "unknown unit"},
    {"DefaultsBadThreshold",
     "version: 1\ndefaults: { thresholds: { los: { warn: 1% } } }\nprobes: []\n", "2:27",
     "did you mean 'loss'?"},
};
INSTANTIATE_TEST_SUITE_P(Whole, BadFiles, testing::ValuesIn(kWhole), titleOf);

const BadFile kProbe[] = {
    {"NoName", probes("  - { protocol: udp, mesh: [10.0.0.1] }\n"), "3:5", "no 'name'"},
    {"NotAMap", probes("  - udp\n"), "3:5", "expected keys"},
    {"NameWithBlank", probes("  - { name: a b, protocol: udp, mesh: [10.0.0.1] }\n"), "3:13",
     "'a b' is no probe name"},
    {"NameTooLong",
     probes("  - { name: " + std::string(65, 'x') + ", protocol: udp, mesh: [10.0.0.1] }\n"),
     "3:13", "1 to 64 characters"},
    {"NameEmpty", probes("  - { name: '', protocol: udp, mesh: [10.0.0.1] }\n"), "3:13",
     "is no probe name"},
    {"NameTwice",
     probes("  - { name: a, protocol: udp, mesh: [10.0.0.1] }\n"
            "  - { name: a, protocol: tcp, mesh: [10.0.0.1] }\n"),
     "4:13", "'a' is here twice; first at p.yaml:3:13"},
    {"TooManyProbes", manyProbes(), "1027:13", "more than 1024 probes"},
    {"UnknownKey", with("intervall: 1s"), "6:5",
     "unknown key 'intervall' (did you mean 'interval'?)"},
    {"NoProtocol", probes("  - { name: a, mesh: [10.0.0.1] }\n"), "3:5", "has no 'protocol'"},
    {"UnknownProtocol", with("self: true", "udb"), "5:15",
     "unknown protocol 'udb' (did you mean 'udp'?)"},
    {"PingWeavesProtocol", with("self: true", "roce"), "5:15", "unknown protocol 'roce'"},
    {"NoMembers", probes("  - { name: a, protocol: udp }\n"), "3:5", "no members"},
    {"MeshAndFrom", with("from: [10.0.0.1]"), "3:5", "'mesh' together with"},
    {"MeshAndTo", with("to: [10.0.0.1]"), "3:5", "'mesh' together with"},
    {"FromWithoutTo", probes("  - { name: a, protocol: udp, from: [10.0.0.1] }\n"), "3:5",
     "'from' without 'to'"},
    {"ToWithoutFrom", probes("  - { name: a, protocol: udp, to: [10.0.0.1] }\n"), "3:5",
     "'to' without 'from'"},
    {"SelfIsNoBoolean", with("self: yes"), "6:11", "'yes' is neither true nor false"},
    {"IntervalWithoutUnit", with("interval: 200"), "6:15", "no unit"},
    {"IntervalNegative", with("interval: -1s"), "6:15", "longer than zero"},
    {"IntervalNotANumber", with("interval: fast"), "6:15", "not a number with a unit"},
    {"IntervalNan", with("interval: nans"), "6:15", ""},
    {"IntervalTooShort", with("interval: 999us"), "6:15",
     "interval 999us is not within 1ms and 1h"},
    {"IntervalTooLong", with("interval: 61m"), "6:15", "interval 61m is not within 1ms and 1h"},
    {"TimeoutTooShort", with("timeout: 10us"), "6:14", "timeout 10us is not within 1ms and 10s"},
    {"TimeoutTooLong", with("timeout: 11s"), "6:14", "timeout 11s is not within 1ms and 10s"},
    {"WindowTooShort", with("window: 500ms"), "6:13", "window 500ms is not within 1s and 1h"},
    {"WindowTooLong", with("window: 2h"), "6:13", "window 2h is not within 1s and 1h"},
    {"WindowBelowInterval", with("interval: 1m"), "6:15", "window 10s is shorter than interval 1m"},
    {"WindowBelowDefault",
     "version: 1\ndefaults: { interval: 1m, window: 1m }\n"
     "probes:\n  - { name: a, protocol: udp, mesh: [10.0.0.1], window: 10s }\n",
     "4:57", "window 10s is shorter than interval 1m"},
    {"TrafficClass", with("traffic_class: 256"), "6:20", "not a whole number from 0 to 255"},
    {"PayloadTooSmall", with("payload: 55"), "6:14", "not a whole number from 56 to 8972"},
    {"PayloadTooLarge", with("payload: 9000"), "6:14", "not a whole number from 56 to 8972"},
    {"PortOfUdp", with("port: 2049"), "6:11", "'port' is for tcp only"},
    {"ServiceLevelOfUdp", with("service_level: 3"), "6:20", "'service_level' is for rdma only"},
    {"ServiceLevelTooLarge", with("service_level: 16", "rdma"), "6:20", "from 0 to 15"},
    {"GidIndexTooLarge", with("gid_index: 256", "rdma"), "6:16", "from 0 to 255"},
    {"PKeyIndex", with("p_key_index: 1", "rdma"), "6:18", "belongs to the queue pair"},
    {"PathsOfUdp", with("paths: 2"), "6:12", "'paths' is for rdma only"},
    {"PathsOfTcp", with("paths: 1", "tcp"), "6:12", "'paths' is for rdma only"},
    {"NoPaths", with("paths: 0", "rdma"), "6:12", "paths: "},
    {"TooManyPaths", with("paths: 129", "rdma"), "6:12", "paths: "},
    {"DefaultsPaths", "version: 1\ndefaults: { paths: 2 }\nprobes: []\n", "2:13",
     "unknown key 'paths'"},
    {"PortOfRdma", with("port: 2049", "rdma"), "6:11", "'port' is for tcp only"},
    {"PortZero", with("port: 0", "tcp"), "6:11", "from 1 to 65535"},
    {"PortTooLarge", with("port: 65536", "tcp"), "6:11", "from 1 to 65535"},
};
INSTANTIATE_TEST_SUITE_P(Probe, BadFiles, testing::ValuesIn(kProbe), titleOf);

const BadFile kMembers[] = {
    {"EmptyMesh", mesh("[]"), "4:11", "the group is empty"},
    {"NullMesh", mesh(""), "4:5", "expected a list"},
    {"EmptyFrom", probes("  - { name: a, protocol: udp, from: [], to: [10.0.0.1] }\n"), "3:37",
     "the group is empty"},
    {"MeshIsScalar", mesh("10.0.0.1"), "4:11", "expected a list"},
    {"NestedList", mesh("[[10.0.0.1]]"), "4:12", "expected a single value"},
    {"UnquotedRangeInBrackets", mesh("[10.0.0.[3-64]]"), "4:19", "a range needs quotes"},
    {"BadAddress", mesh("[10.0.0.300]"), "4:12", "'10.0.0.300' is not an IPv4 or IPv6 address"},
    {"Network", mesh("[10.0.0.0/24]"), "4:12", "as a range, such as 10.0.0.[1-254]"},
    {"DashRange", mesh("[10.0.0.1-20]"), "4:12", "as a range, such as 10.0.0.[1-254]"},
    {"Unresolvable", mesh("[gpu-001]"), "4:12", "'gpu-001' is not an address; DNS names are not"},
    {"Unspecified", mesh("[0.0.0.0]"), "4:12", "the unspecified address"},
    {"UnspecifiedV6", mesh("['::']"), "4:12", "the unspecified address"},
    {"Multicast", mesh("[224.0.0.1]"), "4:12", "multicast"},
    {"MulticastV6", mesh("[ff02::1]"), "4:12", "multicast"},
    {"Broadcast", mesh("[255.255.255.255]"), "4:12", "broadcast"},
    {"RangeOverflows", mesh("['10.0.0.[3-256]']"), "4:12", "'256': the range overflows"},
    {"RangeOverflowsFarther", mesh("['10.0.0.[3-99999999999]']"), "4:12", "the range overflows"},
    {"HexRangeOverflows", mesh("['fd00::[1-10000]']"), "4:12", "the largest part is ffff"},
    {"RangeReversed", mesh("['10.0.0.[64-3]']"), "4:12", "[64-3]: the range is reversed"},
    {"RangeWithoutDash", mesh("['10.0.0.[3]']"), "4:12", "a range is [FIRST-LAST]"},
    {"RangeWithoutEnd", mesh("['10.0.0.[3-]']"), "4:12", "not a number"},
    {"RangeNegative", mesh("['10.0.0.[-3-4]']"), "4:12", "not a number"},
    {"RangeWithLetters", mesh("['10.0.0.[a-f]']"), "4:12", "not a number"},
    {"RangeWithLeadingZero", mesh("['10.0.0.[01-09]']"), "4:12", "no leading zero"},
    {"RangeUnclosed", mesh("['10.0.0.[3-64']"), "4:12", "'[' without ']'"},
    {"RangeOfAPartOfAPart", mesh("['10.0.0.1[0-9]']"), "4:12", "a whole part of an address"},
    {"RangeInAName", mesh("['gpu-[001-064]']"), "4:12", "a whole part of an address"},
    {"RangeOfTooFewParts", mesh("['10.0.[1-2]']"), "4:12", "'10.0.[1-2]': not an IPv4 or IPv6"},
    {"RangeIntoMulticast", mesh("['[223-224].0.0.1']"), "4:12", "224.0.0.1: a multicast"},
    {"RangeTooLong", mesh("['10.[0-255].[0-255].[0-255]']"), "4:12", "more than 1048576 addresses"},
    {"RangeHuge", mesh("['fd00:[0-ffff]:[0-ffff]:[0-ffff]:[0-ffff]:[0-ffff]:[0-ffff]:[0-ffff]']"),
     "4:12", "more than 1048576 addresses"},
    {"TooLongTogether", mesh("['10.[0-14].[0-255].[0-255]', '11.0.[0-255].[0-255]', 12.0.0.1]"),
     "4:65", "more than 1048576 addresses"},
};
INSTANTIATE_TEST_SUITE_P(Members, BadFiles, testing::ValuesIn(kMembers), titleOf);

const BadFile kHosts[] = {
    {"List", "version: 1\nhosts: [a]\nprobes: []\n", "2:8", "expected hosts"},
    {"NoBody", hosts("  gpu-1:\n"), "3:3", "host 'gpu-1' needs an address"},
    {"ScalarBody", hosts("  gpu-1: 10.0.0.1\n"), "3:3", "host 'gpu-1' needs an address"},
    {"NoAddress", hosts("  gpu-1: { rack: r1 }\n"), "3:3", "neither 'address' nor 'addresses'"},
    {"Misspelt", hosts("  gpu-1: { adress: 10.0.0.1 }\n"), "3:3",
     "did you mean 'address' instead of 'adress'?"},
    {"MisspeltMap", hosts("  gpu-1: { adresses: { a: 10.0.0.1 } }\n"), "3:12",
     "did you mean 'addresses'?"},
    {"Both", hosts("  gpu-1: { address: 10.0.0.1, addresses: { a: 10.0.0.2 } }\n"), "3:31",
     "has both"},
    {"Unparsable", hosts("  gpu-1: { address: gpu-1.example }\n"), "3:21",
     "'gpu-1.example' is not an IPv4"},
    {"Range", hosts("  gpu-1: { address: '10.0.0.[1-2]' }\n"), "3:21", "is not an IPv4"},
    {"Unspecified", hosts("  gpu-1: { address: 0.0.0.0 }\n"), "3:21", "unspecified"},
    {"AddressIsAList", hosts("  gpu-1: { address: [10.0.0.1] }\n"), "3:21",
     "expected a single value"},
    {"AddressesAreAList", hosts("  gpu-1: { addresses: [10.0.0.1] }\n"), "3:23",
     "addresses with labels"},
    {"AddressesEmpty", hosts("  gpu-1: { addresses: {} }\n"), "3:23", "has no address"},
    {"AddressTaken",
     hosts("  gpu-1: { address: 10.0.0.1 }\n  gpu-2: { address: '::ffff:10.0.0.1' }\n"), "4:21",
     "10.0.0.1 belongs to 'gpu-1' already"},
    {"AddressTwiceInOne", hosts("  gpu-1: { addresses: { a: 10.0.0.1, b: 10.0.0.1 } }\n"), "3:41",
     "belongs to 'gpu-1' already"},
    {"NameTwice", hosts("  gpu-1: { address: 10.0.0.1 }\n  gpu-1: { address: 10.0.0.2 }\n"), "4:3",
     "host name 'gpu-1' is here twice"},
    {"NameTwiceByLabel",
     hosts("  a/b: { address: 10.0.0.1 }\n  a: { addresses: { b: 10.0.0.2, c: 10.0.0.3 } }\n"),
     "4:3", "host name 'a/b' is here twice"},
    {"NameIsAnAddress", hosts("  10.0.0.1: { address: 10.0.0.2 }\n"), "3:3",
     "cannot be an address"},
    {"NameEmpty", hosts("  '': { address: 10.0.0.2 }\n"), "3:3", "is empty"},
    {"NameWithControl", hosts("  \"a\\tb\": { address: 10.0.0.2 }\n"), "3:3", "control character"},
    {"NameTooLong", hosts("  ? " + std::string(4097, 'x') + "\n  : { address: 10.0.0.2 }\n"), "3:5",
     "longer than 4096 bytes"},
    {"LabelTooLong",
     hosts("  gpu-1: { address: 10.0.0.1, rack: " + std::string(4097, 'x') + " }\n"), "3:37",
     "label 'rack' is longer than 4096 bytes"},
    {"TooManyLabels", hosts("  gpu-1:\n    address: 10.0.0.1\n" + labels(257, "x")), "261:5",
     "more than 256 labels"},
    {"TooMuchToShow", hosts(manyAddresses(256, labels(64, std::string(4096, 'x')))), "3:3",
     "more than 64 MiB, counted for each address"},
    {"LabelIsAMap", hosts("  gpu-1: { address: 10.0.0.1, rack: { a: b } }\n"), "3:31",
     "needs a single value"},
    {"LabelIsNull", hosts("  gpu-1: { address: 10.0.0.1, rack: }\n"), "3:31",
     "needs a single value"},
    {"MaintenanceIsAWord", hosts("  gpu-1: { address: 10.0.0.1, maintenance: soon }\n"), "3:44",
     "maintenance of host 'gpu-1': 'soon' is neither: write true, or a time such as 2026-"},
    {"MaintenanceHasNoZone",
     hosts("  gpu-1: { address: 10.0.0.1, maintenance: 2026-11-30T06:00:00 }\n"), "3:44",
     "'2026-11-30T06:00:00' is neither: write true, or a time"},
    {"MaintenanceIsNull", hosts("  gpu-1: { address: 10.0.0.1, maintenance: }\n"), "3:31",
     "maintenance"},
    {"MaintenanceIsAMap", hosts("  gpu-1: { address: 10.0.0.1, maintenance: { until: 1 } }\n"),
     "3:44", "maintenance of host 'gpu-1': write true, or a time"},
    {"MaintenanceTwice",
     hosts("  gpu-1: { address: 10.0.0.1, maintenance: true, maintenance: false }\n"), "3:50",
     "maintenance"},
    {"LabelTwice", hosts("  gpu-1: { address: 10.0.0.1, rack: a, rack: b }\n"), "3:40",
     "here twice"},
    {"UnknownName", hosts("  gpu-001: { address: 10.0.0.1 }\n", "gpu-01"), "7:12",
     "(did you mean 'gpu-001'?)"},
    {"Ambiguous", hosts("  gpu-1: { addresses: { rail0: 10.0.0.1, rail1: 10.1.0.1 } }\n", "gpu-1"),
     "7:12", "several addresses; write one of 'gpu-1/rail0', 'gpu-1/rail1'"},
    {"LabelOfAHostWithoutLabels", hosts("  gpu-1: { address: 10.0.0.1 }\n", "gpu-1/rail0"), "7:12",
     "no address 'rail0'; write one of 'gpu-1'"},
    {"UnknownLabel",
     hosts("  gpu-1: { addresses: { rail0: 10.0.0.1, rail1: 10.1.0.1 } }\n", "gpu-1/rail2"), "7:12",
     "no address 'rail2'; write one of 'gpu-1/rail0', 'gpu-1/rail1'"},
};
INSTANTIATE_TEST_SUITE_P(Hosts, BadFiles, testing::ValuesIn(kHosts), titleOf);

const BadFile kThresholds[] = {
    {"RollupOfALabelThatNoHostHas",
     "version: 1\nhosts:\n  a: { address: 10.0.0.1, rack: r1 }\nprobes:\n  - name: a\n"
     "    protocol: udp\n    mesh: [a, 10.0.0.2]\n    rollup: rak\n",
     "8:13", "has the label 'rak' (did you mean 'rack'?); write a label that hosts have, or none"},
    {"RollupOfDefaultsWithoutHosts", "version: 1\ndefaults: { rollup: rack }\nprobes: []\n", "2:21",
     "no host of 'hosts:' has the label 'rack'"},
    {"RollupOfLongValues",
     "version: 1\ndefaults: { rollup: note }\nhosts:\n  a: { address: 10.0.0.1, note: " +
         std::string(257, 'x') + " }\nprobes: []\n",
     "2:21", "a value of the label 'note' is longer than 256 bytes"},
    {"RollupIsAList", with("rollup: [rack]"), "6:13", ""},
    {"NotAMap", with("thresholds: 3x"), "6:17", "expected keys"},
    {"LevelsAreAScalar", thresholds("rtt: 3x"), "6:25", "expected keys"},
    {"UnknownLevel", thresholds("rtt: { wran: 3x }"), "6:27", "did you mean 'warn'?"},
    {"NoUnit", thresholds("rtt: { warn: 50 }"), "6:33",
     "warn of rtt: '50' is no threshold: write a time such as 50us, 3x"},
    {"NotANumber", thresholds("rtt: { crit: nanx }"), "6:33", "not within 1x"},
    {"BelowTheMedian", thresholds("rtt: { warn: 0.5x }"), "6:33", "not within 1x and 10000x"},
    {"TooLong", thresholds("rtt: { crit: 11s }"), "6:33", "not within 100ns and 10s"},
    {"ShareOfATime", thresholds("rtt: { warn: 5% }"), "6:33", "'5%' is a share: write a time"},
    {"TimeOfAShare", thresholds("loss: { warn: 5ms }"), "6:34", "'5ms' is a time: write a share"},
    {"FactorOfAShare", thresholds("loss: { warn: 3x }"), "6:34", "'3x' of a median"},
    {"MoreThanAll", thresholds("loss: { warn: 101% }"), "6:34", "not within 0.01% and 100%"},
    {"Reversed", thresholds("loss: { warn: 5%, crit: 1% }"), "6:26", "warn 5% is beyond crit 1%"},
    {"NoNumberOfWindows", with("thresholds: { enter: 3 }"), "6:26", "write 3 of 5, with at most 8"},
    {"MoreWindowsThanThereAre", with("thresholds: { leave: 4 of 3 }"), "6:26", "write 3 of 5"},
    {"TooManyWindows", with("thresholds: { leave: 4 of 9 }"), "6:26", "write 3 of 5"},
    {"NoWindow", with("thresholds: { enter: 0 of 3 }"), "6:26", "write 3 of 5"},
    {"BeyondTheUsual", thresholds("rtt: { warn: 20x }"), "6:25", "beyond crit 10x; name both"},
};
INSTANTIATE_TEST_SUITE_P(Thresholds, BadFiles, testing::ValuesIn(kThresholds), titleOf);

const BadFile kPingWeave[] = {
    {"UnknownCategory", "mesh: {}\narow: {}\n", "2:1", "did you mean 'arrow'?"},
    {"UnknownProtocol", "mesh:\n  upd:\n    g: [10.0.0.1]\n", "2:3", "did you mean 'udp'?"},
    {"CategoryIsAList", "mesh: [10.0.0.1]\n", "1:7", "expected keys"},
    {"ProtocolIsAList", "mesh:\n  udp: [10.0.0.1]\n", "2:8", "expected keys"},
    {"EmptyGroup", "mesh:\n  udp:\n    g: []\n", "3:8", "the group is empty"},
    {"GroupIsScalar", "mesh:\n  udp:\n    g: 10.0.0.1\n", "3:8", "expected a list"},
    {"MeshGroupIsAnArrow", "mesh:\n  udp:\n    g: { src: [10.0.0.1] }\n", "3:8", "expected a list"},
    {"ArrowGroupIsAList", "arrow:\n  udp:\n    g: [10.0.0.1]\n", "3:8", "expected keys"},
    {"ArrowWithoutDst", "arrow:\n  tcp:\n    g: { src: [10.0.0.1] }\n", "3:5", "has no 'dst'"},
    {"ArrowWithoutSrc", "arrow:\n  tcp:\n    g: { dst: [10.0.0.1] }\n", "3:5", "has no 'src'"},
    {"ArrowUnknownKey", "arrow:\n  tcp:\n    g: { src: [10.0.0.1], dest: [10.0.0.1] }\n", "3:27",
     "did you mean 'dst'?"},
    {"BadAddress", "mesh:\n  udp:\n    g: [10.0.0.256]\n", "3:9", "not an IPv4"},
    {"DnsName", "mesh:\n  udp:\n    g: [gpu-1.example]\n", "3:9", "DNS names are not resolved"},
    {"MappedNamesClash", "mesh:\n  udp:\n    a b: [10.0.0.1]\n    a_b: [10.0.0.1]\n", "4:5",
     "probe 'udp-a_b' is here twice; first at p.yaml:3:5"},
    {"GroupTwice", "mesh:\n  udp:\n    a: [10.0.0.1]\n    a: [10.0.0.1]\n", "4:5", "here twice"},
    {"NameTooLong", "mesh:\n  udp:\n    " + std::string(61, 'g') + ": [10.0.0.1]\n", "3:5",
     "is no probe name"},
    {"NameEmpty", "mesh:\n  udp:\n    '': [10.0.0.1]\n", "3:5", "no name"},
};
INSTANTIATE_TEST_SUITE_P(PingWeave, BadFiles, testing::ValuesIn(kPingWeave), titleOf);

}  // namespace
}  // namespace pingloom::pinglist::bad_file_test
