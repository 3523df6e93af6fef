// A fleet whose agents run in processes of their own, because each agent needs two descriptors and
// more while it changes its controller, and a process may have few of them (RLIMIT_NOFILE). The
// processes tell through shared memory how far their agents are. They serve the agents all the
// time, not only while this one waits.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "common/error.h"
#include "common/time.h"
#include "fleet_agent.h"
#include "shared/child.h"

namespace pingloom::bench {

struct FleetOrder;
struct FleetControl;  // what is shared with one process

// Belongs to one thread. Make it before any thread is started, because it forks.
class FleetProcesses {
 public:
  static constexpr std::uint32_t kAgentsEach = 2500;

  // REQUIRES: the shape outlives it and does not change.
  FleetProcesses(const FleetShape& shape, std::uint32_t agents);
  FleetProcesses(const FleetProcesses&) = delete;
  FleetProcesses& operator=(const FleetProcesses&) = delete;
  ~FleetProcesses();

  Status startAll();
  Status killAll();
  // Makes one batch of every agent, of the newest window that has ended, or of the next one if that
  // was closed before. It may have to wait until controllers take the window.
  Status closeWindows();
  // Makes one batch of one agent, in which every ping was lost. An agent loses one window at most
  // between two calls of closeWindows().
  Status loseWindow(std::uint32_t agent);
  // Makes all agents close each window when it ends, until they are told otherwise.
  Status keepClosing(bool keep);

  // Waits until `done` and gives the time it took. It is an error that names `what` if it takes
  // longer than `patience`, or if a process has ended.
  Result<Nanos> waitUntil(const char* what, Nanos patience, const std::function<bool()>& done);

  // Whether all are registered and have taken a plan since their start.
  bool allReady() const { return ready() == agents_; }
  bool nothingWaits() const { return waiting() == 0; }
  std::uint64_t batchesClosed() const;

 private:
  Status order(const FleetOrder& what);
  std::uint64_t nextWindow() const;
  std::uint32_t ready() const;
  std::uint32_t waiting() const;

  const FleetShape& shape_;
  const std::uint32_t agents_;
  std::vector<FleetControl*> controls_;  // in shared memory
  std::vector<std::unique_ptr<Child>> children_;
  std::uint64_t last_window_ = 0;  // that all agents have closed
  std::uint64_t lost_window_ = 0;  // the last that one agent has lost
};

}  // namespace pingloom::bench
