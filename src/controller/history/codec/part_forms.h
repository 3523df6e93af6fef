// What the section of a block that holds one part's samples begins with: its form.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace pingloom::controller::part_form {

constexpr std::uint64_t kEach = 0;         // samples one by one
constexpr std::uint64_t kRuns = 1;         // samples as runs of equal steps
constexpr std::uint64_t kPercentiles = 2;  // a minute's median and those above it

constexpr std::size_t kPercentilesAboveMedian = 3;
constexpr std::array<std::uint64_t, kPercentilesAboveMedian> kRanks = {95, 99, 100};

}  // namespace pingloom::controller::part_form
