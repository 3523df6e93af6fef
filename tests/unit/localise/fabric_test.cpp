#include "localise/fabric.h"

#include <gtest/gtest.h>

#include "localise/edges.h"

namespace pingloom::localise {
namespace {

using Nodes = std::vector<NodeId>;

std::vector<std::string> namesOf(const Fabric& fabric, PathId path) {
  std::vector<std::string> names;
  for (const ComponentId id : fabric.componentsOf(path)) {
    names.push_back(std::string(kindName(fabric.components()[id].kind)) + " " + fabric.name(id));
  }
  return names;
}

TEST(Fabric, DerivesComponentsFromAPath) {
  Fabric fabric;
  fabric.nameNode(10, "leaf-0");
  const auto path = fabric.addPath(Nodes{0, 10, 20, 1});
  ASSERT_TRUE(path);
  EXPECT_EQ(
      namesOf(fabric, *path),
      (std::vector<std::string>{"link 0 -> leaf-0", "link leaf-0 -> 20", "cable leaf-0 - 20",
                                "link 20 -> 1", "switch leaf-0", "switch 20", "host 0", "host 1"}));
}

TEST(Fabric, KnowsNoLinksBesideUnknownHops) {
  Fabric fabric;
  const auto path = fabric.addPath(Nodes{0, 10, kUnknownNode, 11, 1});
  ASSERT_TRUE(path);
  EXPECT_EQ(namesOf(fabric, *path),
            (std::vector<std::string>{"link 0 -> 10", "link 11 -> 1", "switch 10", "switch 11",
                                      "host 0", "host 1"}));
}

TEST(Fabric, CountsALoopOnce) {
  Fabric fabric;
  const auto path = fabric.addPath(Nodes{0, 10, 20, 10, 20, 1});
  ASSERT_TRUE(path);
  const auto on = fabric.componentsOf(*path);
  EXPECT_EQ(std::adjacent_find(on.begin(), on.end()), on.end());
}

TEST(Fabric, RefusesPathsThatCannotBe) {
  Fabric fabric;
  EXPECT_FALSE(fabric.addPath(Nodes{0}));
  EXPECT_FALSE(fabric.addPath(Nodes{kUnknownNode, 10, 1}));
  EXPECT_FALSE(fabric.addPath(Nodes(kMaxHops + 1, 7)));
  EXPECT_FALSE(fabric.addRoundTrip(Nodes{0, 10, 1}, Nodes{1}));
  EXPECT_EQ(fabric.paths(), 0U);
  EXPECT_TRUE(fabric.components().empty());
}

TEST(Edges, FindsWhatCouldCrossAComponent) {
  Fabric fabric;
  std::vector<Observation> evidence;
  for (const Nodes& nodes : {Nodes{0, 10, 20, 11, 2}, Nodes{0, 10, 21, 11, 2},
                             Nodes{0, 10, 21, 11, 3}, Nodes{2, 11, 20, 10, 0}, Nodes{0, 10, 1}}) {
    const auto row = static_cast<std::uint32_t>(evidence.size());
    evidence.push_back({row, *fabric.addPath(nodes), 10, row == 2 ? 1U : 0U});
  }
  const Edges edges(fabric, evidence);
  const std::vector<std::uint32_t> crossing = {0};
  const Edges::Near near = edges.near(crossing);
  EXPECT_EQ(near.all, 2U);  // the two over the other spine; not the way back, nor inside a leaf
  EXPECT_EQ(near.lossy, std::vector<std::uint32_t>{2});
}

}  // namespace
}  // namespace pingloom::localise
