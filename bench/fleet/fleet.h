// Serves all agents on one thread with one epoll, so that a message costs the same however many
// agents there are.
#pragma once

#include <functional>
#include <memory>
#include <set>
#include <utility>
#include <vector>

#include "agent/control_client.h"
#include "common/error.h"
#include "common/fd.h"
#include "common/time.h"
#include "fleet_agent.h"

namespace pingloom::bench {

class Fleet {
 public:
  // `first` is the number of the first agent.
  Fleet(const FleetShape& shape, std::uint32_t agents, std::uint32_t first = 0);

  Status startAll();
  Status start(std::size_t agent);
  void killAll();
  void closeWindows();  // makes one batch of every agent, of the newest window that has ended
  void closeWindows(std::uint64_t window_index);  // the same, of this window
  // The same for one agent, in whose window every ping was lost.
  void loseWindow(std::size_t agent, std::uint64_t window_index);

  // Serves the connections until `done` and gives the time it took. It is an error that names
  // `what` if it takes longer than `patience`.
  Result<Nanos> serveUntil(const char* what, Nanos patience, const std::function<bool()>& done);
  void serveFor(Nanos duration);

  // Whether all have registered at least `times` times since their start, and still are.
  bool allRegistered(std::uint64_t times = 1) const;
  bool allHavePlan(std::uint64_t plans_taken) const;
  bool nothingWaits() const;
  std::uint64_t batchesClosed() const { return batches_closed_; }
  std::uint64_t resent() const;
  std::vector<Nanos> takeLatencies();
  const std::vector<std::unique_ptr<FleetAgent>>& agents() const { return agents_; }

 private:
  void serveOnce(Nanos until_mono);
  void run(std::size_t agent);
  void watch(std::size_t agent);

  const FleetShape& shape_;
  net::ZmqContext context_;
  std::vector<std::unique_ptr<FleetAgent>> agents_;
  UniqueFd epoll_;
  std::vector<Nanos> deadlines_;  // of each agent
  std::set<std::pair<Nanos, std::size_t>> by_deadline_;
  std::uint64_t batches_closed_ = 0;
  std::uint64_t last_window_ = 0;
};

// Agents have addresses 10.x.y.z, destinations 10.200.x.y.
IpAddress agentAddress(std::uint32_t number);
IpAddress destinationAddress(std::uint32_t number);
// Agents of this shape report rows of the first destinations.
FleetShape shapeOf(std::uint32_t rows, Nanos window);
// The newest window that has ended.
std::uint64_t newestWindow(Nanos window);
// A pinglist with this shape's probe, from so many agents.
std::string udpPinglist(std::uint32_t agents, std::uint32_t rows, Nanos window);
// The first `count` of them, as a list in a pinglist.
std::string listOf(std::uint32_t count, IpAddress (*address)(std::uint32_t));

}  // namespace pingloom::bench
