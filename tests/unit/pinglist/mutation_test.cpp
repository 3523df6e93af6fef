// Random damage to good files: the parser takes or refuses them, with a place, and never crashes,
// hangs or grows without bound. Seeds are fixed: a failure can be run again.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <random>

#include "pinglist/cost.h"
#include "pinglist/pinglist.h"
#include "plan/plan_codec.h"

namespace pingloom::pinglist::mutation_test {
namespace {

const std::string kNative = R"(version: 1
defaults: { interval: 1s, timeout: 500ms, window: 10s }
hosts:
  gpu-001: { address: 10.0.0.1, rack: r1 }
  gpu-002: { addresses: { rail0: 10.0.0.2, rail1: "fd00::2" }, rack: "r1" }
probes:
  - name: rack-r1
    protocol: udp
    mesh: &all [gpu-001, 10.0.0.2, "10.0.0.[3-64]", "fd00::[1-ff]"]
    interval: 200ms
  - { name: b, protocol: tcp, from: *all, to: [10.0.9.1], port: 2049, traffic_class: 106 }
  - name: c
    protocol: rdma
    mesh: [gpu-001, "10.0.1.[1-40]"]
    plan: { full: rack, across: { targets: 4, paths: 2, cover: 1 } }
)";
const std::string kPingWeave = R"(mesh:
  udp:
    group1: [10.0.0.1, 0.0.0.0, 10.0.0.2]
  ib:
    group1:
      - 10.1.0.1
arrow:
  tcp:
    g: { src: [10.0.0.1], dst: [10.0.9.1] }
)";

class Mutator {
 public:
  explicit Mutator(unsigned seed) : random_(seed) {}

  std::string mutate(std::string text) {
    const std::size_t edits = 1 + below(3);
    for (std::size_t i = 0; i < edits && !text.empty(); ++i) edit(text);
    return text;
  }

 private:
  std::size_t below(std::size_t limit) { return random_() % limit; }

  void edit(std::string& text) {
    static const std::vector<std::string> kTokens = {"[",
                                                     "]",
                                                     "{",
                                                     "}",
                                                     ":",
                                                     "- ",
                                                     "\n",
                                                     "\t",
                                                     "&all ",
                                                     "*all",
                                                     "<<: ",
                                                     "!!int ",
                                                     "|\n",
                                                     "\"",
                                                     "'",
                                                     "#",
                                                     "---\n",
                                                     "~",
                                                     "-1",
                                                     "999999999999999999999",
                                                     "1s",
                                                     "0-ffff",
                                                     "0-255",
                                                     "::",
                                                     "%",
                                                     std::string("\0", 1),
                                                     "\xff",
                                                     "\xc3\xa9",
                                                     "version: 1\n",
                                                     "name: a"};
    const std::size_t at = below(text.size());
    switch (below(5)) {
      case 0:
        text[at] = static_cast<char>(random_());
        break;
      case 1:
        text.erase(at, 1 + below(8));
        break;
      case 2:
        text.insert(at, kTokens[below(kTokens.size())]);
        break;
      case 3:
        text.insert(below(text.size()), text.substr(at, 1 + below(40)));
        break;
      default:
        text.resize(at);
    }
  }

  std::mt19937 random_;
};

void checkInvariants(const Pinglist& list) {
  for (const plan::ProbeSpec& probe : list.plan.probes) {
    ASSERT_TRUE(plan::validProbeName(probe.name));
    ASSERT_TRUE(list.plan.lists.contains(probe.sources));
    ASSERT_TRUE(list.plan.lists.contains(probe.destinations));
    ASSERT_GE(probe.window, probe.interval);
  }
  for (const auto& [name, members] : list.plan.lists) {
    ASSERT_FALSE(members->empty());
    ASSERT_LE(members->size(), plan::kMaxListAddresses);
    ASSERT_TRUE(std::adjacent_find(members->begin(), members->end(), std::greater_equal<>()) ==
                members->end());
  }
  ASSERT_LE(list.warnings.size(), 101U);
  costOf(list);
}

void run(const std::string& good, int mutations) {
  int accepted = 0;
  for (int seed = 0; seed < mutations; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const std::string text = Mutator(static_cast<unsigned>(seed)).mutate(good);
    const auto parsed = parse(text, "p.yaml");
    if (parsed) {
      ++accepted;
      checkInvariants(*parsed);
      if (testing::Test::HasFatalFailure()) return;
    } else {
      ASSERT_EQ(parsed.error().entity.rfind("p.yaml", 0), 0U) << parsed.error().text();
      ASSERT_FALSE(parsed.error().reason.empty());
    }
  }
  // Otherwise the damage is too great to try more than the first line.
  EXPECT_GT(accepted, mutations / 100);
  EXPECT_LT(accepted, mutations);
}

TEST(Mutations, OfTheNativeForm) { run(kNative, 2000); }
TEST(Mutations, OfPingWeavesForm) { run(kPingWeave, 2000); }

}  // namespace
}  // namespace pingloom::pinglist::mutation_test
