// The precision of times: as fine as the bytes allow that a pair may take. A level that was too
// fine for a content is tried again when contents have become much smaller. Any thread may use it.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>

#include "common/error.h"
#include "controller/history/codec/samples.h"

namespace pingloom::controller {

// Binary logarithms of the number of histogram buckets that are one step (steps.h).
struct WindowPrecision {
  std::array<unsigned, kRowParts.size()> merged;
  unsigned jitter;
};
struct PartPrecision {
  unsigned median;
  unsigned tail;
};
struct MinutePrecision {
  std::array<PartPrecision, kRowParts.size()> parts;
  unsigned jitter;
};

constexpr std::array<WindowPrecision, 5> kWindowPrecisions = {{
    {{0, 1, 1, 1}, 2},
    {{1, 2, 2, 2}, 2},
    {{2, 3, 3, 3}, 3},
    {{3, 4, 4, 4}, 4},
    {{4, 5, 5, 5}, 5},
}};
constexpr std::array<MinutePrecision, 6> kMinutePrecisions = {{
    {{{{0, 1}, {1, 2}, {1, 2}, {1, 2}}}, 2},
    {{{{1, 2}, {2, 3}, {2, 3}, {2, 3}}}, 3},
    {{{{1, 2}, {3, 3}, {3, 3}, {2, 3}}}, 3},
    {{{{2, 3}, {3, 4}, {3, 4}, {3, 4}}}, 4},
    {{{{3, 4}, {4, 5}, {4, 5}, {4, 5}}}, 5},
    {{{{4, 5}, {5, 5}, {5, 5}, {5, 5}}}, 5},
}};

// Bytes that a content may take. They leave room for SQLite's partly filled pages. In a content of
// few pairs, names and sizes take more than the rest.
constexpr std::size_t windowBudget(std::size_t pairs) {
  return std::max<std::size_t>(1024, 256 + pairs * 147 / 10);
}
constexpr std::size_t minuteBudget(std::size_t pairs) {
  return std::max<std::size_t>(512, 256 + pairs * 32 / 10);
}

// Calls `encode(level)`, from `level` on, until the content fits, and sets `level` for the next
// one.
template <typename Encode>
Result<std::string_view> encodeWithin(std::size_t budget, std::size_t levels, std::size_t& level,
                                      Encode encode) {
  for (;;) {
    Result<std::string_view> content = encode(level);
    if (!content) return content;
    if (content->size() > budget && level + 1 < levels) {
      ++level;
      continue;
    }
    if (content->size() * 5 < budget * 2 && level > 0) --level;
    return content;
  }
}

}  // namespace pingloom::controller
