// Which of the controllers that share a history is the home of an agent: the member with the
// largest weight (wire/rendezvous.h). A controller without a session cannot commit, so none of the
// agents has its home there if there are others. The control thread.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "controller/model/board.h"

namespace pingloom::controller {

class Homes {
 public:
  // REQUIRES: the board outlives it.
  explicit Homes(const Board& board) : board_(board) {}

  // Takes over who is there. Returns true if there are others than before.
  bool refresh();
  struct Home {
    std::string name;
    std::string address;
  };
  // Returns the other controller that is the agent's home, or nullopt if it is here.
  std::optional<Home> elsewhere(std::string_view host) const;

 private:
  const Board& board_;
  std::shared_ptr<const ClusterStatus> seen_ = std::make_shared<const ClusterStatus>();
};

}  // namespace pingloom::controller
