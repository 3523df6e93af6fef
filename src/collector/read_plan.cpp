#include "collector/read_plan.h"

#include "pages/range_head.h"
#include "pingloom/page_format.h"

namespace pingloom::collector {

std::size_t usedBytes(const PageInfo& page) {
  return sizeof(pingloom_page_header) + page.slots * sizeof(std::uint64_t);
}

std::vector<Segment> planReads(const std::vector<const PageInfo*>& pages) {
  std::vector<Segment> segments = {{0, sizeof(pages::RangeHead)}};
  for (const PageInfo* page : pages) {
    const std::uint64_t begin = std::uint64_t{page->place} * PINGLOOM_PAGE_BYTES;
    const std::uint64_t end = begin + usedBytes(*page);
    Segment& last = segments.back();
    const std::uint64_t last_end = last.offset + last.length;
    if (begin - last_end <= kMaxGap && end - last.offset <= kMaxReadBytes) {
      last.length = static_cast<std::uint32_t>(end - last.offset);
    } else {
      segments.push_back({begin, static_cast<std::uint32_t>(end - begin)});
    }
  }
  return segments;
}

}  // namespace pingloom::collector
