// Which of the controllers that share a history is the home of an agent: the member with the
// largest weight (wire/rendezvous.h). A controller without a session cannot commit, so none of the
// agents has its home there if there are others. One that has just started reads its history for a
// while before it takes agents, so it is nobody's home until it serves. The control thread.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/time.h"
#include "controller/model/board.h"

namespace pingloom::controller {

class Homes {
 public:
  // After so long, one that is not known to serve counts as if it did: this controller may be the
  // only one that cannot reach it.
  static constexpr Nanos kPatience = 10 * kSecond;
  // Whether another member is known to take agents.
  using Serves = std::function<bool(const ClusterMember& member)>;

  // REQUIRES: the board outlives it.
  explicit Homes(const Board& board) : board_(board) {}

  // Without it, all members serve.
  void setServes(Serves serves) { serves_ = std::move(serves); }
  // Takes over who is there. Returns true if homes may be others than before.
  bool refresh(Nanos now_mono);
  struct Home {
    std::string name;
    std::string address;

    bool operator==(const Home&) const = default;
  };
  // Returns the other controller that is the agent's home, or nullopt if it is here.
  std::optional<Home> elsewhere(std::string_view host) const;

 private:
  bool serves(const ClusterMember& member, Nanos now_mono);

  const Board& board_;
  Serves serves_;
  std::string own_;          // this controller's name
  std::vector<Home> homes_;  // by name
  // For each other member: its session, and since when it has been known.
  std::map<std::string, std::pair<std::int64_t, Nanos>> known_;
};

}  // namespace pingloom::controller
