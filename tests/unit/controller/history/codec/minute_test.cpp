#include <map>

#include "controller/history/codec/content.h"
#include "controller/history/codec/kept_report.h"
#include "controller/history/codec/minute_builder.h"
#include "unit/controller/mesh_report.h"

namespace pingloom::controller::minute_test {
namespace {

using namespace test;

TEST(MinuteTest, ItsPercentilesAreThoseOfAllSamples) {
  std::mt19937_64 random(5);
  MinuteBuilder minute;
  std::vector<std::array<Distribution, 4>> exact(6);
  std::uint32_t sent = 0;
  for (int window = 0; window < 6; ++window) {
    // One of them far off: averaged percentiles would show it in the median.
    const wire::Report report = meshReport(random, 6, window == 2 ? 40 : 10);
    for (int i = 0; i < 6; ++i) {
      sent += report.rows(i).sent();
      for (std::size_t part = 0; part < 4; ++part) {
        exact[static_cast<std::size_t>(i)][part].merge(
            *wire::decode(viewOf((report.rows(i).*kSets[part])())));
      }
    }
    const std::string bytes = packed(report);
    ContentReader content;
    ASSERT_TRUE(content.open(bytes));
    ASSERT_TRUE(minute.accepts(content));
    ASSERT_TRUE(minute.add(content));
  }
  const auto made = minute.content();
  ASSERT_TRUE(made);
  BlockReader block;
  ASSERT_TRUE(block.open(*made));
  ASSERT_TRUE(block.readAll());
  EXPECT_TRUE(block.head().minute);
  for (std::size_t i = 0; i < 6; ++i) {
    Row row;
    block.counts(i, row);
    sent -= row.sent;
    for (std::size_t part = 0; part < 4; ++part) {
      const Summary kept = summaryOf(block.samples(part, i));
      const Summary all = exact[i][part].summary();
      const double bound = part == 0 ? 1.0 / 32 : 1.0 / 16;
      EXPECT_EQ(kept.count, all.count);
      // Beyond 64 samples the exact ones are buckets themselves.
      expectNear(kept.p50, all.p50, bound / 2 + 1.0 / 64, "p50");
      expectNear(kept.p95, all.p95, bound + 1.0 / 64, "p95");
      expectNear(kept.p99, all.p99, bound + 1.0 / 64, "p99");
      expectNear(kept.max, all.max, bound, "max");
    }
  }
  EXPECT_EQ(sent, 0U) << "every ping once";
}

TEST(MinuteTest, JoinsPairsThatComeAndGo) {
  MinuteBuilder minute;
  ContentReader content;
  for (const auto& destinations :
       {std::vector<const char*>{"10.0.0.2", "10.0.0.4"}, {"10.0.0.3", "10.0.0.4"}, {"10.0.0.2"}}) {
    std::vector<wire::Row> rows;
    for (const char* destination : destinations) rows.push_back(test::goodRow(destination));
    const std::string bytes = packed(test::reportOf("mesh", "10.0.0.1", kIndex, rows));
    ASSERT_TRUE(content.open(bytes));
    ASSERT_TRUE(minute.add(content));
  }
  const auto made = minute.content();
  BlockReader block;
  ASSERT_TRUE(block.open(*made));
  ASSERT_TRUE(block.readAll());
  EXPECT_EQ(block.destinations(),
            (plan::AddressList{ip("10.0.0.2"), ip("10.0.0.3"), ip("10.0.0.4")}));
  for (std::size_t i = 0; i < 3; ++i) {
    Row row;
    block.counts(i, row);
    EXPECT_EQ(row.sent, i == 1 ? 10U : 20U);
    EXPECT_EQ(block.sampleCount(0, i), row.received);
  }
}

TEST(MinuteTest, TakesLittle) {
  std::mt19937_64 random(7);
  MinuteBuilder minute;
  ReportPacker packer;
  std::size_t size = 0;
  for (int repeat = 0; repeat < 3; ++repeat) {
    minute.clear();
    for (int window = 0; window < 6; ++window) {
      ContentReader content;
      const std::string bytes = packed(packer, meshReport(random, 2000, 10));
      ASSERT_TRUE(content.open(bytes));
      ASSERT_TRUE(minute.add(content));
    }
    const auto made = minute.content();
    ASSERT_TRUE(made);
    size = made->size();
    EXPECT_LE(size, 2000 * 34U / 10);
  }
}

TEST(MinuteTest, IsOfSeveralBlocksWhereItHasManyPairs) {
  std::mt19937_64 random(8);
  MinuteBuilder minute;
  ContentReader content;
  for (const std::uint32_t pairs : {1100U, 900U}) {
    const std::string bytes = packed(meshReport(random, pairs, 3));
    ASSERT_TRUE(content.open(bytes));
    ASSERT_TRUE(minute.accepts(content));
    ASSERT_TRUE(minute.add(content));
  }
  const auto made = minute.content();
  ASSERT_TRUE(made);
  ASSERT_TRUE(content.open(*made));
  ASSERT_TRUE(content.readAll());
  EXPECT_EQ(content.blocks(), 2U);
  EXPECT_TRUE(content.head().minute);
  const plan::AddressList destinations = content.destinations();
  ASSERT_EQ(destinations.size(), 1100U);
  EXPECT_TRUE(content.hasDestinations(destinations));
  for (std::size_t i = 0; i < destinations.size(); ++i) {
    EXPECT_EQ(destinations[i], IpAddress::fromV4(0x0a000002 + static_cast<std::uint32_t>(i)));
    Row row;
    content.block(i / 550).counts(i % 550, row);
    EXPECT_EQ(row.sent, i < 900 ? 6U : 3U);
  }
}

// What is damaged is told, or does no harm: the rows are the same then.

}  // namespace
}  // namespace pingloom::controller::minute_test
