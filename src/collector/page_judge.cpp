#include "collector/page_judge.h"

#include <algorithm>
#include <utility>

namespace pingloom::collector {

HeadState judgeHead(const pages::RangeHead& head, std::uint64_t incarnation, std::uint64_t epoch) {
  if (head.magic != pages::kRangeMagic || head.version != pages::kRangeVersion ||
      head.incarnation != incarnation || head.epoch != epoch) {
    return HeadState::kNone;
  }
  const bool serving = head.state == static_cast<std::uint16_t>(pages::RangeState::kServing);
  return serving ? HeadState::kServing : HeadState::kMoved;
}

void PageJudge::follow(const std::vector<std::shared_ptr<const PageInfo>>& pages) {
  std::map<std::uint64_t, Seen> seen;
  for (const auto& info : pages) seen[info->generation] = seen_[info->generation];
  seen_ = std::move(seen);
}

PageState PageJudge::judge(const PageView& shown, const pingloom_page_header& header, bool torn,
                           Nanos now) {
  const bool one = header.magic == PINGLOOM_PAGE_MAGIC && header.version == PINGLOOM_PAGE_VERSION &&
                   header.slots <= PINGLOOM_PAGE_SLOTS;
  if (!one || header.generation != shown.info->generation) {
    // Until the owner writes the header, the page has none, or one from an earlier agent.
    const bool new_page = shown.read == 0 && (one || header.magic == 0);
    ++(one ? counters_.foreign : counters_.corrupt);
    return new_page ? PageState::kUnread : PageState::kCorrupt;
  }
  if (torn) {
    ++counters_.torn;
    return PageState::kTorn;
  }
  Seen& seen = seen_[shown.info->generation];
  if (seen.changed == 0 || header.heartbeat != seen.heartbeat) {
    seen = {header.heartbeat, now, false};
  }
  if (now - seen.changed < kStaleAfter) return PageState::kFresh;
  counters_.stale += std::exchange(seen.stale, true) ? 0 : 1;
  return PageState::kStale;
}

void PageJudge::show(PageView& shown, const pingloom_page& page, bool torn, Nanos now) {
  const PageState state = judge(shown, page.header, torn, now);
  shown.state = state;
  if (state != PageState::kFresh && state != PageState::kStale) return;
  shown.read = now;
  // Only slots that both page and schema have are shown.
  shown.slots = std::min(page.header.slots, static_cast<std::uint32_t>(shown.info->slots));
  shown.values.assign(page.slots, page.slots + shown.slots);
  shown.unread.clear();
}

}  // namespace pingloom::collector
