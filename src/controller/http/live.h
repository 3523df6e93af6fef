// The live WebSocket. A viewer receives the plan, says which probe and metric it watches, receives
// every source of that grid, and then every source that changes. A viewer that reconnects names the
// last sequence number at which it was in sync, and receives the changes since then. A slow viewer
// has each changed source queued once, however often it changes, so its backlog is never longer
// than the probe's list of sources. The HTTP thread, except for start().
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "controller/http/live_rows.h"
#include "controller/model/board.h"
#include "http/server.h"

namespace pingloom::controller {

class Live : public http::WebSocketEndpoint, public std::enable_shared_from_this<Live> {
 public:
  // Changes are gathered for this long, so that many reports at once cause one wake.
  static constexpr Nanos kGather = 50 * kMillisecond;

  explicit Live(const Board& board);

  // Subscribes to the board, on the HTTP thread that `tasks` reaches.
  void start(Board& board, const http::TaskQueue& tasks);

  std::unique_ptr<http::WebSocketSession> open(std::function<void()> wake) override;

 private:
  class Viewer;

  void takeChanges();
  void usePlan(std::shared_ptr<const GridPlan> plan);

  const Board& board_;
  std::shared_ptr<Feed> feed_;
  std::shared_ptr<const GridPlan> plan_;
  std::shared_ptr<const std::string> plan_frame_;
  std::shared_ptr<const std::string> verdict_frame_;
  LiveRows rows_;
  std::uint64_t epoch_;         // identifies this process: sequence numbers restart with it
  std::uint32_t sequence_ = 0;  // counts takeChanges()
  // By probe and source: the sequence number of the last change.
  std::vector<std::vector<std::uint32_t>> changed_;
  std::vector<Viewer*> viewers_;
};

}  // namespace pingloom::controller
