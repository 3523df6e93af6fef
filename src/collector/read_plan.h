// Plans which bytes of a range a round reads: the used beginning of every page. Neighbours with a
// small gap share a READ. A plain value.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "collector/page_directory.h"

namespace pingloom::collector {

struct Segment {
  std::uint64_t offset = 0;  // offset in the range
  std::uint32_t length = 0;
};

// The maximum size of a READ: large enough that the cost of a READ is negligible, small enough that
// several are in flight.
constexpr std::uint32_t kMaxReadBytes = 64 * 1024;
// The maximum gap between the used parts of two pages that one READ covers.
constexpr std::uint32_t kMaxGap = 256;

std::size_t usedBytes(const PageInfo& page);  // bytes of the page from its header on
// The first segment contains the head. REQUIRES: `pages` are ordered by place.
std::vector<Segment> planReads(const std::vector<const PageInfo*>& pages);

}  // namespace pingloom::collector
