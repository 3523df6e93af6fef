#include "collector/read_plan.h"

#include <gtest/gtest.h>
#include <pingloom/page_format.h>

namespace pingloom::collector::read_plan_test {
namespace {

std::vector<Segment> plan(const std::vector<std::pair<std::uint32_t, std::size_t>>& pages) {
  std::vector<PageInfo> infos;
  for (const auto& [place, slots] : pages) {
    PageInfo& info = infos.emplace_back();
    info.place = place;
    info.slots = slots;
  }
  std::vector<const PageInfo*> pointers;
  for (const PageInfo& info : infos) pointers.push_back(&info);
  return planReads(pointers);
}

TEST(ReadPlan, TheHeadAlwaysAndTheUsedBeginningOfAPage) {
  ASSERT_EQ(plan({}).size(), 1U);
  EXPECT_EQ(plan({})[0].length, 64U);
  const auto one = plan({{3, 2}});
  ASSERT_EQ(one.size(), 2U);
  EXPECT_EQ(one[1].offset, 3U * 4096);
  EXPECT_EQ(one[1].length, 64U + 16);
}

TEST(ReadPlan, FullNeighboursShareAReadAndNearlyAllOfItIsValues) {
  std::vector<std::pair<std::uint32_t, std::size_t>> pages;
  for (std::uint32_t place = 1; place <= 100; ++place) pages.emplace_back(place, 504);
  const auto segments = plan(pages);
  EXPECT_EQ(segments.size(), 1U + 7U) << "100 pages in READs of 16";
  std::uint64_t bytes = 0;
  for (const Segment& segment : segments) {
    EXPECT_LE(segment.length, kMaxReadBytes);
    bytes += segment.length;
  }
  EXPECT_GE(100.0 * 504 * 8 / static_cast<double>(bytes), 0.98);
}

TEST(ReadPlan, APageIsNeverCutAndWhatIsFarIsNotReadAlong) {
  const auto segments = plan({{1, 10}, {2, 480}, {3, 504}, {5, 504}});
  ASSERT_EQ(segments.size(), 4U);
  EXPECT_EQ(segments[1].length, 64U + 80);
  EXPECT_EQ(segments[2].offset, 2U * 4096);
  EXPECT_EQ(segments[2].length, 8192U) << "the gap of 192 bytes is read along";
  EXPECT_EQ(segments[3].offset, 5U * 4096);
}

}  // namespace
}  // namespace pingloom::collector::read_plan_test
