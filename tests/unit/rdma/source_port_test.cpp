#include "rdma/soft/source_port.h"

#include <gtest/gtest.h>

#include <set>

namespace pingloom::rdma::soft::source_port_test {
namespace {

TEST(SourcePort, FoldsTheLabelAsMlx5Does) {
  EXPECT_EQ(sourcePortOf(0), 0xC000);
  EXPECT_EQ(sourcePortOf(1), 0xC001);
  EXPECT_EQ(sourcePortOf(0x3FFF), 0xFFFF);
  EXPECT_EQ(sourcePortOf(0x4000), 0xC001) << "bit 14 folds onto bit 0";
  EXPECT_EQ(sourcePortOf(0xFFFFF), 0xC000 | (0x3FFF ^ 0x3F));
  EXPECT_EQ(sourcePortOf(0xFFF00001), sourcePortOf(1)) << "a label has 20 bits";
}

TEST(SourcePort, SmallLabelsAreDistinctPaths) {
  std::set<std::uint16_t> ports;
  for (std::uint32_t label = 0; label < 0x4000; ++label) ports.insert(sourcePortOf(label));
  EXPECT_EQ(ports.size(), 0x4000U);
}

}  // namespace
}  // namespace pingloom::rdma::soft::source_port_test
