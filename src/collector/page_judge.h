// Validates what a round has read from an agent's range before it is shown. Applications write the
// pages, so their contents are hostile. One thread.
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
  kMoved,  // still valid, but it will soon become unreadable
  kNone,   // not a range of that agent and epoch
};
HeadState judgeHead(const pages::RangeHead& head, std::uint64_t incarnation, std::uint64_t epoch);

class PageJudge {
 public:
  // REQUIRES: `counters` outlive this.
  explicit PageJudge(AgentCounters& counters) : counters_(counters) {}

  // Sets the pages that are read from now on; the heartbeats of pages that stay are kept.
  void follow(const std::vector<std::shared_ptr<const PageInfo>>& pages);
  // Forgets all generations, which belong to another agent from now on.
  void forget() { seen_.clear(); }
  // Updates `shown` from what was read of its page. `torn` means that there was no consistent copy.
  void show(PageView& shown, const pingloom_page& page, bool torn, Nanos now);

 private:
  struct Seen {  // what was last seen of a page
    std::uint64_t heartbeat = 0;
    Nanos changed = 0;
    bool stale = false;
  };
  PageState judge(const PageView& shown, const pingloom_page_header& header, bool torn, Nanos now);

  AgentCounters& counters_;
  std::map<std::uint64_t, Seen> seen_;  // by generation
};

}  // namespace pingloom::collector
