// The live WebSocket: a viewer first gets the plan, then every source once, then every source that
// changes. A viewer that is behind has each changed source queued once, whatever happened to it
// meanwhile: its backlog is never longer than the plan has sources. The HTTP thread, but for
// start().
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "controller/board.h"
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
  std::string plan_frame_;
  // Sources are numbered through all probes; probe p's begin at first_source_[p].
  std::vector<std::uint32_t> first_source_;
  std::vector<Viewer*> viewers_;
};

}  // namespace pingloom::controller
