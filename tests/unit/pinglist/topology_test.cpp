#include "pinglist/topology.h"

#include <gmock/gmock.h>

#include <fstream>

#include "pinglist/pinglist.h"
#include "unit/common/temporary_directory.h"

namespace pingloom::pinglist::topology_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::string refusalOf(const std::string& text) {
  const auto parsed = parseTopology(text, "topology.yaml");
  return parsed ? "" : parsed.error().text();
}

TEST(Topology, NamesSwitches) {
  const auto parsed = parseTopology(
      "switches:\n"
      "  spine1: { tier: 2, addresses: [10.2.0.1, \"fd00::1\"] }\n"
      "  leaf0: { addresses: [] }\n",
      "topology.yaml");
  ASSERT_TRUE(parsed) << parsed.error().text();
  ASSERT_EQ(parsed->switches.size(), 2U);
  EXPECT_EQ(parsed->switches[0].name, "spine1");
  EXPECT_EQ(parsed->switches[0].tier, 2U);
  EXPECT_THAT(parsed->switches[0].addresses,
              ElementsAre(*IpAddress::parse("10.2.0.1"), *IpAddress::parse("fd00::1")));
  EXPECT_EQ(parsed->switches[1].tier, 0U);
}

TEST(Topology, SaysWhatIsWrongAndWhere) {
  EXPECT_THAT(refusalOf("links: []\n"), HasSubstr("topology.yaml:1:1"));
  EXPECT_THAT(refusalOf("switches: [a]\n"), HasSubstr("below it NAME:"));
  EXPECT_THAT(refusalOf("switches:\n  a: { tier: 0, addresses: [] }\n"), HasSubstr(":2:"));
  EXPECT_THAT(refusalOf("switches:\n  a: { tier: 2 }\n"), HasSubstr("needs 'addresses'"));
  EXPECT_THAT(refusalOf("switches:\n  a: { addresses: [10.0.0] }\n"), HasSubstr("10.0.0"));
  EXPECT_THAT(refusalOf("switches:\n  a: { address: [] }\n"), HasSubstr("address"));
  EXPECT_THAT(
      refusalOf("switches:\n  a: { addresses: [10.0.0.1] }\n"
                "  b: { addresses: [10.0.0.2, 10.0.0.1] }\n"),
      HasSubstr("topology.yaml:3:30: switches.b.addresses: address 10.0.0.1 already belongs to a"));
  EXPECT_THAT(refusalOf("switches:\n  a: { addresses: [] }\n  a: { addresses: [] }\n"),
              HasSubstr(":3:"));
  EXPECT_THAT(refusalOf("switches:\n  " + std::string(65, 'x') + ": { addresses: [] }\n"),
              HasSubstr("1 to 64 bytes"));
}

TEST(Topology, ABeyondBoundIsRefused) {
  std::string text = "switches:\n  a: { addresses: [";
  for (std::uint32_t i = 0; i <= Topology::kMaxAddresses; ++i) {
    text += IpAddress::fromV4(0x0A000000 + i).text() + ", ";
  }
  EXPECT_THAT(refusalOf(text + "] }\n"), HasSubstr("more than 65,536"));
}

TEST(Topology, IsNamedByAPinglistRelativeToIt) {
  const pingloom::test::TemporaryDirectory folder;
  const auto write = [&](const char* name, const std::string& text) {
    std::ofstream(folder / name) << text;
    return (folder / name).string();
  };
  const std::string pinglist =
      write("pinglist.yaml", "version: 1\ntopology: fabric.yaml\nprobes: []\n");
  const auto missing = load(pinglist);
  ASSERT_FALSE(missing);
  EXPECT_THAT(missing.error().text(), HasSubstr("pinglist.yaml:2:11"));
  EXPECT_THAT(missing.error().text(), HasSubstr("fabric.yaml"));
  write("fabric.yaml", "switches:\n  leaf0: { addresses: [10.1.0.2] }\n");
  const auto loaded = load(pinglist);
  ASSERT_TRUE(loaded) << loaded.error().text();
  ASSERT_EQ(loaded->topology.switches.size(), 1U);
  EXPECT_EQ(loaded->topology.switches[0].name, "leaf0");
  write("fabric.yaml", "switches:\n  leaf0: { addresses: [10.1.0] }\n");
  const auto wrong = load(pinglist);
  ASSERT_FALSE(wrong);
  EXPECT_THAT(wrong.error().text(), HasSubstr("fabric.yaml:2:"));
}

}  // namespace
}  // namespace pingloom::pinglist::topology_test
