// What a round has read of an agent's range, judged before any of it is shown: a page is its
// application's to write, and hostile. One thread.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "collector/board.h"
#include "collector/page_directory.h"
#include "common/time.h"
#include "pages/range_head.h"
#include "pingloom/page_format.h"

namespace pingloom::collector {

enum class HeadState : std::uint8_t {
  kServing,
  kMoved,  // still its pages', until it can be read no more
  kNone,   // no range of that agent's and epoch
};
HeadState judgeHead(const pages::RangeHead& head, std::uint64_t incarnation, std::uint64_t epoch);

class PageJudge {
 public:
  // Counts into them what it finds; they outlive it.
  explicit PageJudge(AgentCounters& counters) : counters_(counters) {}

  // The pages that are read from now on; signs of life of those that stay are remembered.
  void follow(const std::vector<std::shared_ptr<const PageInfo>>& pages);
  // Generations are another agent's from now on.
  void forget() { seen_.clear(); }
  // Puts what was read of the page `shown` is of into it. `torn`: no undivided copy was got.
  void show(PageView& shown, const pingloom_page& page, bool torn, Nanos now);

 private:
  struct Seen {  // of a page
    std::uint64_t heartbeat = 0;
    Nanos changed = 0;
    bool stale = false;
  };
  PageState judge(const PageView& shown, const pingloom_page_header& header, bool torn, Nanos now);

  AgentCounters& counters_;
  std::map<std::uint64_t, Seen> seen_;  // by generation
};

}  // namespace pingloom::collector
