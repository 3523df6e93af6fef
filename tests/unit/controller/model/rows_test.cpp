#include "controller/model/rows.h"

#include <gtest/gtest.h>

#include <limits>
#include <map>
#include <random>

#include "unit/controller/full_row.h"
#include "unit/controller/same_shown_row.h"

namespace pingloom::controller::rows_test {
namespace {

constexpr auto kLargest = std::numeric_limits<std::uint32_t>::max();

Row sentRow(std::uint32_t sent) {
  Row row;
  row.sent = sent;
  return row;
}

// A row of any widths, which may contradict itself.
Row anyRow(std::mt19937_64& random) {
  const auto number = [&random] { return random() >> (random() % 64); };
  const auto count = [&] {
    return random() % 2 == 0 ? 0U : static_cast<std::uint32_t>(number() & kLargest);
  };
  Row row;
  for (const auto field : kRowCounts) row.*field = count();
  row.misfit = count();
  row.skipped = count();
  for (std::uint32_t& field : row.anomalous) field = count();
  if (random() % 2 == 0) row.inbound = count();
  if (random() % 2 == 0) row.jitter_ns = number();
  for (const auto part : kRowParts) {
    if (random() % 4 == 0) continue;
    row.*part = {number() | 1U, number(), number(), number(), number(), number(), number()};
  }
  return row;
}

void expectFigures(const PackedRow& packed, const Row& row) {
  const RowFigures read = figuresOf(packed);
  const RowFigures figures = figuresOf(row);
  EXPECT_EQ(read.counts, figures.counts);
  EXPECT_EQ(read.measured, figures.measured);
  EXPECT_EQ(read.p50, figures.p50);
  EXPECT_EQ(read.has_jitter, figures.has_jitter);
  EXPECT_EQ(read.jitter_ns, figures.jitter_ns);
}

// Expects each way of reading the row to tell the same.
void expectRow(const PackedRow& packed, const Row& row) {
  EXPECT_TRUE(test::sameRow(packed.row(), row));
  EXPECT_EQ(packed.sent(), row.sent);
  EXPECT_EQ(packed.hasWindow(), row.sent != 0);
  EXPECT_EQ(packed.counts().inbound, row.inbound);
  EXPECT_EQ(packed.counts().skipped, row.skipped);
  EXPECT_EQ(packed.counts().anomalous, row.anomalous);
  EXPECT_EQ(packed.jitter(), row.jitter_ns);
  EXPECT_EQ(countsOf(packed), countsOf(row));
  for (std::size_t i = 0; i < kRowParts.size(); ++i) {
    EXPECT_TRUE(test::samePart(packed.part(static_cast<RowPart>(i)), row.*kRowParts[i]));
  }
  expectFigures(packed, row);
}

TEST(Rows, KeepEveryField) {
  Rows rows{test::fullRow(), Row(), sentRow(1)};
  ASSERT_EQ(rows.size(), 3U);
  expectRow(rows.packed(0), test::fullRow());
  expectRow(rows.packed(1), Row());
  expectRow(rows.packed(2), sentRow(1));
  expectRow(rows.packed(7), Row());
  EXPECT_LE(rows.packed(0).restBytes(), kMaxPackedRest);
}

TEST(Rows, NothingIsKeptOfAPartWithoutSamples) {
  Row row = sentRow(2);
  row.network = {0, 1, 2, 3, 4, 5, 6};
  EXPECT_EQ(Rows{row}[0].network.max, 0U);
}

TEST(Rows, AnswerForEveryDestination) {
  Rows rows(10);
  EXPECT_EQ(rows.size(), 10U);
  for (const std::uint32_t i : {7U, 2U, 9U, 0U}) rows.set(i, sentRow(i + 1));
  for (std::size_t i = 0; i < 10; ++i) {
    const bool there = i == 7 || i == 2 || i == 9 || i == 0;
    EXPECT_EQ(rows[i].sent, there ? i + 1 : 0) << i;
  }
  ASSERT_EQ(rows.entries().size(), 4U);
  EXPECT_EQ(rows.entries()[1].destination, 2U);
  EXPECT_EQ(rows.of(rows.entries()[2]).sent(), 8U);
  rows.set(7, sentRow(80));
  EXPECT_EQ(rows.entries().size(), 4U);
  EXPECT_EQ(rows[7].sent, 80U);
}

TEST(Rows, ACopyStaysAsItWas) {
  Rows rows{sentRow(1), test::fullRow()};
  const Rows copy = rows;
  rows.set(0, test::fullRow());
  rows.set(1, Row());
  expectRow(copy.packed(0), sentRow(1));
  expectRow(copy.packed(1), test::fullRow());
  expectRow(rows.packed(0), test::fullRow());
  expectRow(rows.packed(1), Row());
}

TEST(Rows, AreThoseOfAMapAfterAnyChanges) {
  constexpr std::uint32_t kDestinations = 40;
  std::mt19937_64 random(1);
  Rows rows(kDestinations);
  std::map<std::uint32_t, Row> expected;
  for (int step = 0; step < 5000; ++step) {
    const auto destination = static_cast<std::uint32_t>(random() % kDestinations);
    const Row row = anyRow(random);
    rows.set(destination, row);
    expected[destination] = row;
    if (step % 100 == 0) rows.trim();
    if (step % 500 == 0) {
      Rows next(kDestinations);
      next.reserveLike(rows);
      for (const auto& entry : rows.entries()) next.set(entry.destination, rows.of(entry));
      rows = next;
    }
    expectRow(rows.packed(destination), row);
    if (step % 50 != 0) continue;
    ASSERT_EQ(rows.entries().size(), expected.size());
    for (const auto& [at, known] : expected) expectRow(rows.packed(at), known);
    ASSERT_FALSE(testing::Test::HasFailure()) << "step " << step;
  }
}

TEST(Rows, ReplacedRowsTakeAtMostAsMuchAgain) {
  Rows rows(2);
  rows.set(0, test::fullRow());
  std::size_t furthest = 0;
  for (int i = 0; i < 100; ++i) {
    rows.set(1, sentRow(1));
    rows.set(1, test::fullRow());
    furthest = std::max<std::size_t>(furthest, rows.entries()[1].offset);
  }
  EXPECT_LE(furthest, 4 * kMaxPackedRest);
}

}  // namespace
}  // namespace pingloom::controller::rows_test
