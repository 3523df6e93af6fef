#include "controller/history/codec/part_reader.h"

#include <gtest/gtest.h>

#include <array>

#include "controller/history/codec/columns.h"

namespace pingloom::controller::part_reader_test {
namespace {

// One pair of one sample in the form of runs, with so many runs as `runs` says, each of the same
// step.
std::string runsOf(std::uint64_t runs) {
  const auto one = [](std::uint64_t value) { return std::array<std::uint64_t, 1>{value}; };
  ColumnWriter out;
  out.number(1);
  out.number(0);
  for (const std::uint64_t value : {std::uint64_t{1}, std::uint64_t{0}, runs})
    out.column(one(value));
  out.column(one(0));
  out.column(one(1));
  return out.bytes();
}

TEST(PartReaderTest, MoreRunsThanThereMayBeAreRefused) {
  PartReader reader;
  EXPECT_TRUE(reader.read(runsOf(1), 1)) << "or this test shows nothing";
  EXPECT_FALSE(reader.read(runsOf(std::uint64_t{1} << 60), 1));
  EXPECT_FALSE(reader.read(runsOf((8U << 20) + 1), 1));
}

}  // namespace
}  // namespace pingloom::controller::part_reader_test
