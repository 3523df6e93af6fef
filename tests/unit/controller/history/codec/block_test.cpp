#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <random>

#include "controller/history/codec/content.h"
#include "controller/history/codec/kept_report.h"
#include "unit/controller/mesh_report.h"

namespace pingloom::controller::block_test {
namespace {

using namespace test;

TEST(BlockTest, KeepsCountsAsTheyAreAndTimesWithinTheBound) {
  std::mt19937_64 random(1);
  wire::Report report = meshReport(random, 20, 10);
  report.mutable_rows(3)->set_late(4'000'000'000U);
  report.mutable_rows(4)->add_anomalous(0);
  report.mutable_rows(4)->add_anomalous(7);
  BlockReader block;
  const std::string bytes = packed(report);
  ASSERT_TRUE(block.open(bytes));
  ASSERT_TRUE(block.readAll());
  EXPECT_EQ(block.head(), (BlockHead{Protocol::kUdp, ClockSource::kKernel, "eth0", false}));
  ASSERT_EQ(block.destinations().size(), 20U);
  for (int i = 0; i < report.rows_size(); ++i) {
    const auto pair = static_cast<std::size_t>(i);
    EXPECT_EQ(block.destinations()[pair].wire(), report.rows(i).destination());
    IpAddress destination;
    Row exact;
    ASSERT_TRUE(readRow(viewOf(report.rows(i)), destination, exact));
    Row kept;
    block.counts(pair, kept);
    expectNear(*kept.jitter_ns, *exact.jitter_ns, 1.0 / 16, "jitter");
    for (std::size_t part = 0; part < 4; ++part) {
      const Summary a = summaryOf(block.samples(part, pair));
      const Summary& b = exact.*kRowParts[part];
      const double bound = part == 0 ? 1.0 / 64 : 1.0 / 32;
      EXPECT_EQ(a.count, b.count);
      expectNear(a.min, b.min, bound, "min");
      expectNear(a.mean, b.mean, bound, "mean");
      expectNear(a.p50, b.p50, bound, "p50");
      expectNear(a.p95, b.p95, bound, "p95");
      expectNear(a.p99, b.p99, bound, "p99");
      expectNear(a.max, b.max, bound, "max");
    }
    for (const auto count : kRowCounts) EXPECT_EQ(kept.*count, exact.*count) << "of row " << i;
    EXPECT_EQ(kept.anomalous, exact.anomalous);
  }
}

TEST(BlockTest, PairsWithTheSameCountsAreOneRun) {
  wire::Report report = test::reportOf("mesh", "10.0.0.1", kIndex, {});
  for (int last = 2; last <= 10; ++last) {
    *report.add_rows() = test::goodRow("10.0.0." + std::to_string(last));
  }
  report.mutable_rows(4)->set_sent(13);
  report.mutable_rows(4)->set_lost(3);
  report.mutable_rows(5)->add_anomalous(2);
  report.mutable_rows(8)->set_ack_lost(10);
  report.mutable_rows(8)->clear_network();
  const std::string bytes = packed(report);
  BlockReader block;
  ASSERT_TRUE(block.open(bytes) && block.readCounts());
  ASSERT_TRUE(block.countsNeedNetwork());
  ASSERT_TRUE(block.readPart(0));
  std::vector<CountRun> runs;
  block.pairCounts(runs);
  std::vector<std::size_t> ends;
  std::size_t from = 0;
  for (const auto& [counts, end] : runs) {
    ends.push_back(end);
    for (; from < end; ++from) {
      IpAddress destination;
      Row exact;
      ASSERT_TRUE(readRow(viewOf(report.rows(static_cast<int>(from))), destination, exact));
      EXPECT_EQ(counts, countsOf(exact)) << from;
    }
  }
  EXPECT_EQ(ends, (std::vector<std::size_t>{4, 5, 6, 8, 9}));
}

TEST(BlockTest, TakesRowsInAnyOrderAndOfBothFamilies) {
  wire::Report report = test::reportOf(
      "mesh", "10.0.0.1", kIndex,
      {test::goodRow("fd00:1::2"), test::lossRow("10.0.0.9"), test::goodRow("fd00::7"),
       test::goodRow("fd00::3"), test::goodRow("10.0.0.2"), test::lossRow("255.255.255.255")});
  BlockReader block;
  const std::string bytes = packed(report);
  ASSERT_TRUE(block.open(bytes));
  ASSERT_TRUE(block.readAll());
  EXPECT_EQ(block.destinations(),
            (plan::AddressList{ip("10.0.0.2"), ip("10.0.0.9"), ip("255.255.255.255"), ip("fd00::3"),
                               ip("fd00::7"), ip("fd00:1::2")}));
  EXPECT_EQ(block.sampleCount(0, 0), 10U);
  EXPECT_EQ(block.sampleCount(0, 1), 0U);
  EXPECT_TRUE(block.samples(3, 2).empty());
  EXPECT_EQ(countOf(block.samples(3, 5)), 10U);
}

TEST(BlockTest, AWindowWithoutRowsIsABlock) {
  BlockReader block;
  const std::string bytes = packed(test::reportOf("mesh", "10.0.0.1", kIndex, {}));
  ASSERT_TRUE(block.open(bytes));
  EXPECT_TRUE(block.readAll());
  EXPECT_TRUE(block.destinations().empty());
}

// Ten samples, and a hundred, which an agent sends as buckets.
TEST(ContentTest, StaysWithinItsBytesByCoarserSteps) {
  for (const std::uint32_t samples : {10U, 100U}) {
    std::mt19937_64 random(samples);
    ReportPacker packer;
    for (int window = 0; window < 3; ++window) {
      const wire::Report report = meshReport(random, 2000, samples);
      const std::string bytes = packed(packer, report);
      EXPECT_LE(bytes.size(), 2000 * 15U) << samples << " samples";
      ContentReader content;
      ASSERT_TRUE(content.open(bytes));
      ASSERT_TRUE(content.readAll());
      ASSERT_EQ(content.blocks(), 4U);
      ASSERT_EQ(content.pairs(), 2000U);
      for (std::size_t i = 0; i < 2000; ++i) {
        IpAddress destination;
        Row exact;
        ASSERT_TRUE(readRow(viewOf(report.rows(static_cast<int>(i))), destination, exact));
        BlockReader& block = content.block(i / 500);
        EXPECT_EQ(block.destinations()[i % 500], destination);
        const Summary kept = summaryOf(block.samples(0, i % 500));
        EXPECT_EQ(kept.count, exact.network.count);
        expectNear(kept.p99, exact.network.p99, 1.0 / 4, "p99");
      }
    }
  }
}

TEST(ContentTest, PairsAreSpreadEvenlyOverAsFewBlocksAsThereCanBe) {
  for (const auto& [pairs, wanted] : std::map<std::size_t, std::size_t>{
           {0, 1}, {1, 1}, {512, 512}, {513, 257}, {2000, 500}, {65'536, 512}}) {
    EXPECT_EQ(evenBlockPairs(pairs, 512), wanted) << pairs;
    EXPECT_LE(pairs / wanted, kMaxBlocks);
  }
}

// Blocks of different heads are not one content, nor are more than there can be.
TEST(ContentTest, WhatIsNotOneContentIsDamage) {
  const std::string udp =
      packed(test::reportOf("mesh", "10.0.0.1", kIndex, {test::goodRow("10.0.0.2")}));
  wire::Report other = test::reportOf("mesh", "10.0.0.1", kIndex, {test::goodRow("10.0.0.3")});
  other.set_device("eth1");
  ContentReader content;
  EXPECT_TRUE(content.open(udp + udp));
  EXPECT_FALSE(content.open(udp + packed(other)));
  EXPECT_FALSE(content.open(udp + "x"));
  EXPECT_FALSE(content.open(""));
  const std::string next =
      packed(test::reportOf("mesh", "10.0.0.1", kIndex, {test::goodRow("10.0.0.3")}));
  EXPECT_TRUE(content.open(udp + next));
  EXPECT_FALSE(content.open(next + udp)) << "destinations ascend through all blocks";
  std::string most;
  for (std::size_t i = 0; i < kMaxBlocks; ++i) most += udp;
  EXPECT_TRUE(content.open(most));
  EXPECT_FALSE(content.open(most + udp));
}

// What takes next to nothing on the disk may not take all of the memory.
TEST(ContentTest, SoMuchIsReadOfAContent) {
  constexpr std::uint64_t kSamples = 8'000'000;
  ColumnWriter part;
  for (const std::uint64_t number : {0, 0}) part.number(number);  // samples, finest steps
  const std::vector<std::uint64_t> counts(1, kSamples);
  const std::vector<std::uint64_t> firsts(1, 100);
  std::vector<std::uint64_t> ups(kSamples - 1);
  ups[0] = 1;
  for (const auto& column : {counts, firsts, ups}) part.column(column);
  const std::array<IpAddress, 1> destinations = {ip("10.0.0.2")};
  const std::array<Row, 1> rows;
  const std::array<ColumnWriter, 4> parts = {part, part, part, part};
  BlockWriter writer;
  const std::string block(*writer.write({}, destinations, rows, 0, parts));
  ASSERT_LT(block.size(), 16'000U);
  ContentReader content;
  const std::string two = block + block;
  ASSERT_TRUE(content.open(two));
  EXPECT_TRUE(content.readAll());
  const std::string four = two + two;
  ASSERT_TRUE(content.open(four));
  EXPECT_FALSE(content.readAll());
}

TEST(BlockTest, AReportOfItIsTakenByTheGridAgain) {
  std::mt19937_64 random(3);
  const wire::Report sent = meshReport(random, 30, 100);
  ContentReader content;
  const std::string bytes = packed(sent);
  ASSERT_TRUE(content.open(bytes));
  ASSERT_TRUE(content.readAll());
  const KeptReport kept{"mesh", ip("10.0.0.1"), 0,
                        static_cast<Nanos>(sent.window_index()) * sent.window_ns(),
                        sent.window_ns()};
  wire::Report again;
  ASSERT_TRUE(again.ParseFromString(reportOf(kept, content)));
  const auto head = readHead(again);
  ASSERT_TRUE(head);
  EXPECT_EQ(head->window_index, sent.window_index());
  ASSERT_EQ(again.rows_size(), 30);
  for (int i = 0; i < 30; ++i) {
    IpAddress destination;
    Row row;
    ASSERT_TRUE(readRow(viewOf(again.rows(i)), destination, row));
    EXPECT_EQ(row.lost, sent.rows(i).lost());
    EXPECT_EQ(row.rtt.count, sent.rows(i).received());
  }
}

TEST(BlockTest, DamagedBytesAreToldFromGoodOnes) {
  std::mt19937_64 random(9);
  const std::string good = packed(meshReport(random, 12, 5));
  BlockReader reference;
  ASSERT_TRUE(reference.open(good) && reference.readAll());
  const auto same = [&](BlockReader& block) {
    if (block.destinations() != reference.destinations()) return false;
    for (std::size_t i = 0; i < 12; ++i) {
      Row a;
      Row b;
      block.counts(i, a);
      reference.counts(i, b);
      if (a.sent != b.sent || a.jitter_ns != b.jitter_ns) return false;
      if (summaryOf(block.samples(3, i)).p99 != summaryOf(reference.samples(3, i)).p99) {
        return false;
      }
    }
    return true;
  };
  std::size_t told = 0;
  for (std::size_t at = 0; at < good.size(); ++at) {
    BlockReader block;
    EXPECT_FALSE(block.open(good.substr(0, at)) && block.readAll()) << "cut at " << at;
    for (const int bit : {0, 3, 7}) {
      std::string bad = good;
      bad[at] = static_cast<char>(bad[at] ^ (1 << bit));
      BlockReader flipped;
      if (flipped.open(bad) && flipped.readAll()) {
        EXPECT_TRUE(same(flipped)) << "bit " << bit << " of byte " << at;
      } else {
        ++told;
      }
    }
  }
  EXPECT_GT(told, good.size() * 2) << "most are";
}

TEST(BlockTest, SectionsOfRandomBytesDoNoHarm) {
  std::mt19937_64 random(11);
  std::vector<std::uint64_t> percentiles;
  for (int round = 0; round < 20'000; ++round) {
    std::string bytes(random() % 80, '\0');
    for (char& byte : bytes) byte = static_cast<char>(random() % (round % 2 == 0 ? 256 : 6));
    const std::size_t pairs = random() % 20;
    percentiles.resize(pairs);
    PartReader part;
    if (part.read(bytes, pairs)) {
      for (std::size_t i = 0; i < pairs; ++i) {
        const auto runs = part.of(i);
        EXPECT_EQ(countOf(runs), part.count(i));
        EXPECT_TRUE(ascend(runs));
        const Summary exact = summaryOf(runs);
        const auto at = [&](std::uint64_t percent) {
          part.percentiles(percent, percentiles.data());
          return percentiles[i] == PartReader::kNoSample ? 0 : percentiles[i];
        };
        EXPECT_EQ(at(0), exact.min);
        EXPECT_EQ(at(50), exact.p50);
        EXPECT_EQ(at(95), exact.p95);
        EXPECT_EQ(at(99), exact.p99);
        EXPECT_EQ(at(100), exact.max);
      }
    }
    CountReader counts;
    Row row;
    if (!counts.read(bytes, pairs) || pairs == 0) continue;
    std::vector<std::uint8_t> marks(pairs);
    counts.markChanges(marks.data());
    for (std::size_t i = 0; i < pairs; ++i) {
      counts.fill(i, row);
      EXPECT_EQ(counts.counts(i), countsOf(row));
      EXPECT_TRUE(i == 0 || marks[i] != 0 || counts.counts(i) == counts.counts(i - 1));
    }
    counts.jitter(percentiles.data());
    EXPECT_EQ(percentiles.back(), row.jitter_ns.value_or(PartReader::kNoSample));
  }
}

}  // namespace
}  // namespace pingloom::controller::block_test
