// Which of the controllers that share a history is the home of an agent: the member with the
// largest weight (wire/rendezvous.h). A controller without a session cannot commit, so none of the
// agents has its home there if there are others. One that has just started reads its history for a
// while before it takes agents, so it is nobody's home until it serves. The control thread.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
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
  enum class Service {
    kServes,      // it takes agents
    kStarting,    // it can be reached, and does not answer yet
    kUnreachable  // perhaps only from here
  };
  // After so long, one that is unreachable counts as if it served.
  static constexpr Nanos kPatience = 10 * kSecond;
  using ServiceOf = std::function<Service(const ClusterMember& other)>;

  // REQUIRES: the board outlives it.
  explicit Homes(const Board& board) : board_(board) {}

  // Without it, all members serve.
  void setServiceOf(ServiceOf service_of) { service_of_ = std::move(service_of); }
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
  ServiceOf service_of_;
  std::string own_;          // this controller's name
  std::vector<Home> homes_;  // by name
  // For each other member: its session, and since when it has been unreachable.
  std::map<std::string, std::pair<std::int64_t, Nanos>> known_;
};

}  // namespace pingloom::controller
