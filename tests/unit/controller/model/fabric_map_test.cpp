#include "controller/model/fabric_map.h"

#include <gmock/gmock.h>

#include <string>
#include <vector>

namespace pingloom::controller::fabric_map_test {
namespace {

using testing::Contains;
using testing::ElementsAre;

// A leaf-spine of `leaves` x `spines` with two hosts at each leaf. Links have two addresses:
// 10.2.L.(2 S) at leaf L and 10.2.L.(2 S + 1) at spine S.
struct LeafSpine {
  std::uint32_t leaves = 3;
  std::uint32_t spines = 2;
  bool inbound = true;  // routers answer from the address that the packet arrived at
  KnownPaths paths = {};

  static IpAddress host(std::uint32_t leaf, std::uint32_t i) {
    return IpAddress::fromV4(0x0A010000 + (leaf << 8) + 2 * i + 1);
  }
  static IpAddress gateway(std::uint32_t leaf, std::uint32_t i) {
    return IpAddress::fromV4(0x0A010000 + (leaf << 8) + 2 * i);
  }
  static IpAddress atLeaf(std::uint32_t leaf, std::uint32_t spine) {
    return IpAddress::fromV4(0x0A020000 + (leaf << 8) + 2 * spine);
  }
  static IpAddress atSpine(std::uint32_t leaf, std::uint32_t spine) {
    return IpAddress::fromV4(0x0A020000 + (leaf << 8) + 2 * spine + 1);
  }

  void trace(std::uint32_t from, std::uint32_t i, std::uint32_t to, std::uint32_t j,
             std::uint32_t spine) {
    auto known = std::make_shared<KnownPath>();
    known->path.source = host(from, i);
    known->path.destination = host(to, j);
    known->path.end = PathEnd::kReached;
    known->path.hops.push_back({gateway(from, i), 1});
    if (from != to) {
      known->path.hops.push_back({atSpine(from, spine), 1});
      // Otherwise from the address towards the prober, which any spine may be on the way to.
      known->path.hops.push_back({atLeaf(to, inbound ? spine : 0), 1});
    } else if (i != j) {
      known->path.hops.back().router = gateway(from, i);
    }
    paths.push_back(std::move(known));
  }

  void traceAll() {
    for (std::uint32_t from = 0; from < leaves; ++from) {
      for (std::uint32_t to = 0; to < leaves; ++to) {
        for (std::uint32_t spine = 0; spine < spines; ++spine) {
          for (std::uint32_t ends = 0; ends < 4; ++ends) {
            if (from != to || ends % 2 != ends / 2) trace(from, ends % 2, to, ends / 2, spine);
          }
        }
      }
    }
  }
};

std::vector<std::string> namesOf(const FabricMap& map) {
  std::vector<std::string> names;
  for (const auto& each : map.switches) names.push_back(each.name);
  return names;
}

TEST(FabricMap, MergesTheAddressesOfASwitch) {
  LeafSpine fabric;
  fabric.traceAll();
  const auto map = mapFabric(fabric.paths, 7, {});
  EXPECT_EQ(map->version, 7U);
  EXPECT_TRUE(map->merged);
  ASSERT_EQ(map->switches.size(), 5U);
  EXPECT_THAT(namesOf(*map),
              ElementsAre("10.1.0.0", "10.1.1.0", "10.1.2.0", "10.2.0.1", "10.2.0.3"));
  EXPECT_EQ(map->switches[0].tier, 1U);
  EXPECT_EQ(map->switches[4].tier, 2U);
  EXPECT_EQ(map->at(LeafSpine::atSpine(2, 1)), 4U);
  EXPECT_EQ(map->at(LeafSpine::atLeaf(2, 0)), map->at(LeafSpine::atLeaf(2, 1)));
  EXPECT_EQ(map->nameOf(LeafSpine::gateway(2, 1)), "10.1.2.0");
  ASSERT_EQ(map->links.size(), 12U) << "both directions of each cable";
  // To each of four hosts at the other leaves from each of two: 8 flows.
  EXPECT_EQ(map->links[0].flows, 8U);
}

TEST(FabricMap, TakesTheTopologysNames) {
  LeafSpine fabric;
  fabric.traceAll();
  const SwitchNames names = {{LeafSpine::atSpine(1, 0), {"spine0", 5}},
                             {LeafSpine::atSpine(2, 0), {"spine0", 5}},
                             {LeafSpine::atLeaf(0, 1), {"leaf0", 0}}};
  const auto map = mapFabric(fabric.paths, 1, names);
  ASSERT_EQ(map->switches.size(), 5U);
  EXPECT_EQ(map->nameOf(LeafSpine::atSpine(0, 0)), "spine0") << "merged with a named one";
  EXPECT_EQ(map->nameOf(LeafSpine::gateway(0, 1)), "leaf0");
  EXPECT_TRUE(map->switches[map->at(LeafSpine::gateway(0, 1))].named);
  EXPECT_EQ(map->switches[map->at(LeafSpine::gateway(0, 1))].tier, 1U);
  EXPECT_EQ(map->switches[map->at(LeafSpine::atSpine(0, 0))].tier, 5U);
}

TEST(FabricMap, SaysWhenAddressesCannotBeMerged) {
  LeafSpine fabric;
  fabric.inbound = false;
  fabric.traceAll();
  const auto map = mapFabric(fabric.paths, 1, {});
  EXPECT_FALSE(map->merged);
  EXPECT_EQ(map->at(LeafSpine::gateway(1, 0)), map->at(LeafSpine::gateway(1, 1)));
  EXPECT_NE(map->at(LeafSpine::atSpine(1, 0)), map->at(LeafSpine::atSpine(1, 1)))
      << "two spines are never one";
}

TEST(FabricMap, KnowsNothingOfAnUnknownHop) {
  LeafSpine fabric;
  fabric.trace(0, 0, 1, 0, 0);
  auto known = std::make_shared<KnownPath>(*fabric.paths[0]);
  known->path.hops[1] = {};
  const auto map = mapFabric({known}, 1, {});
  EXPECT_EQ(map->switches.size(), 2U);
  EXPECT_TRUE(map->links.empty());
  EXPECT_TRUE(mapFabric({}, 0, {})->switches.empty());
}

}  // namespace
}  // namespace pingloom::controller::fabric_map_test
