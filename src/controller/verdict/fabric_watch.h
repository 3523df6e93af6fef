// Runs the fabric's judge on a thread of its own, because a large fabric takes it longer than the
// control thread may stand still. The control thread calls everything here.
#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "common/time.h"
#include "controller/model/board.h"
#include "controller/verdict/cover_watch.h"
#include "controller/verdict/fabric_judge.h"

namespace pingloom::controller {

class FabricWatch {
 public:
  // A look begins this long after the last one at the earliest, and takes at most a tenth of the
  // time.
  static constexpr Nanos kPause = 200 * kMillisecond;

  // The board outlives it.
  explicit FabricWatch(Board& board);
  ~FabricWatch();
  FabricWatch(const FabricWatch&) = delete;
  FabricWatch& operator=(const FabricWatch&) = delete;

  struct Work {
    std::shared_ptr<const Places> places;
    JudgedSources sources;
    std::vector<FlowCounts> bursts = {};
  };
  // Whether begin() may be called at `now`.
  bool ready(Nanos now_mono) const;
  void begin(Work work, Nanos now_mono);
  // Returns the result of the last look once, when it is there.
  std::optional<FabricReport> takeReport();
  // Returns the pairs that looks have chosen since the last call.
  std::vector<CoverPairs> takeChosen();

 private:
  void run();
  FabricReport look(const Work& work);
  void watchCover();

  Board& board_;
  FabricJudge judge_;                     // the thread's
  std::shared_ptr<const FabricMap> map_;  // the thread's; nullptr before the first look
  KnownPaths paths_;                      // the thread's: those of the map
  std::shared_ptr<const GridPlan> plan_;  // the thread's: whose names the map has
  CoverWatch cover_;                      // the thread's

  mutable std::mutex mutex_;
  std::condition_variable wake_;
  std::optional<Work> work_;
  std::optional<FabricReport> report_;
  std::vector<CoverPairs> chosen_;
  bool busy_ = false;
  bool stop_ = false;
  Nanos begun_mono_ = 0;
  Nanos due_mono_ = 0;
  std::thread thread_;
};

}  // namespace pingloom::controller
