// Which bytes of a range are read in a round: the used beginning of every page, with neighbours in
// one READ where little lies between them. A plain value.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "collector/page_directory.h"

namespace pingloom::collector {

struct Segment {
  std::uint64_t offset = 0;  // in the range
  std::uint32_t length = 0;
};

// READs of at most this many bytes: large enough that a READ's own cost vanishes, small enough that
// several are under way.
constexpr std::uint32_t kMaxReadBytes = 64 * 1024;
// What is not wanted between two pages' used parts is read along up to this.
constexpr std::uint32_t kMaxGap = 256;

std::size_t usedBytes(const PageInfo& page);  // of the page, from its header on
// The head first. `pages` by their places, ascending.
std::vector<Segment> planReads(const std::vector<const PageInfo*>& pages);

}  // namespace pingloom::collector
