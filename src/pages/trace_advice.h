// What a collector says about the sampling of traces. A plain value.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace pingloom::pages {

struct TraceAdvice {
  // A collector that has more of them says 1 for all owners.
  static constexpr std::size_t kMaxKeepAll = 256;

  std::uint32_t keep_one_in = 0;        // 0: it does not say
  std::vector<std::uint64_t> keep_all;  // owners whose traces are all to be kept; ascending

  // Returns out of how many of an owner's traces one is to be kept.
  std::uint32_t of(std::uint64_t owner) const {
    return std::binary_search(keep_all.begin(), keep_all.end(), owner) ? 1 : keep_one_in;
  }
  bool operator==(const TraceAdvice&) const = default;
};

}  // namespace pingloom::pages
