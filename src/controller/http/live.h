// The live WebSocket: a viewer gets the plan, says which probe and metric it watches, gets every
// source of that, then every source that changes. One that was away names the last sequence number
// it was in sync with, and gets what changed since. A viewer that is behind has each changed source
// queued once, whatever happened to it meanwhile: its backlog is never longer than the plan has
// sources. The HTTP thread, but for start().
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
  // Changes are gathered for this long, so that a burst of reports is one wake.
  static constexpr Nanos kGather = 50 * kMillisecond;

  explicit Live(const Board& board);

  // Begins to follow the board, on the HTTP thread that `tasks` reaches.
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
  LiveRows rows_;
  std::uint64_t epoch_;         // of this process: sequence numbers begin anew with it
  std::uint32_t sequence_ = 0;  // counts takeChanges()
  std::vector<std::vector<std::uint32_t>> changed_;  // by probe and source: in which sequence
  std::vector<Viewer*> viewers_;
};

}  // namespace pingloom::controller
