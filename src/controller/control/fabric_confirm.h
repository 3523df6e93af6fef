// Confirms a suspicion about the fabric: it has bursts sent over flows that cross the suspected
// part and over flows that differ only there, and hands what they counted to the next look. The
// control thread owns it.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "common/time.h"
#include "controller/control/burst_board.h"
#include "controller/model/board.h"
#include "controller/verdict/fabric_flow.h"

namespace pingloom::controller {

class FabricConfirm {
 public:
  // A round is a burst over each of at most kFlows flows, of which no two have the same agent.
  static constexpr std::size_t kFlows = 8;
  static constexpr std::uint32_t kPings = 50;
  static constexpr Nanos kInterval = 10 * kMillisecond;
  // Between two rounds, so that users' own bursts find room (Bursts::kMaxPerMinute).
  static constexpr Nanos kPause = 15 * kSecond;
  // What a round counted is evidence for this long.
  static constexpr Nanos kHold = 10 * kSecond;

  // The board outlives it.
  explicit FabricConfirm(BurstBoard& board) : board_(board) {}

  // Begins a round over these flows, unless one has begun within kPause.
  void begin(const std::vector<FlowName>& flows, const GridPlan& plan, Nanos now_mono);
  // Takes what the bursts have counted. Returns true if there is new evidence, or old evidence has
  // expired.
  bool collect(Nanos now_mono);
  const std::vector<FlowCounts>& evidence() const { return evidence_; }
  std::uint64_t rounds() const { return rounds_; }

 private:
  // The board may answer when this is gone, and from another thread when the controller ends.
  struct Answer {
    std::atomic<std::uint64_t> id{0};  // 0: not begun yet
    std::atomic<bool> refused{false};
  };
  struct Burst {
    FlowName flow;
    std::shared_ptr<Answer> answer = std::make_shared<Answer>();
    bool over = false;
  };

  BurstBoard& board_;
  std::vector<Burst> bursts_;  // of the newest round
  std::vector<FlowCounts> evidence_;
  Nanos begun_mono_ = 0;
  Nanos expires_mono_ = 0;
  std::uint64_t rounds_ = 0;
};

}  // namespace pingloom::controller
