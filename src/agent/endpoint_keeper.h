// The mesh's RDMA endpoints that this agent knows. The table that the controller pushes is kept on
// disk for the next start. The agent's own endpoints override it, because the agent knows them
// first. The control thread. Bounds: plan::kMaxEndpoints entries; the file is written at most every
// kSavePause.
#pragma once

#include <memory>
#include <vector>

#include "agent/state_dir.h"
#include "common/error.h"
#include "common/time.h"
#include "plan/endpoint_codec.h"

namespace pingloom::agent {

class EndpointKeeper {
 public:
  // Many agents restart at about the same time, so one write covers many changes.
  static constexpr Nanos kSavePause = 5 * kSecond;

  // Begins with the table of the last run. REQUIRES: the directory outlives the keeper.
  explicit EndpointKeeper(const StateDir& state) : state_(state), held_(state.loadEndpoints()) {}

  Status take(const wire::EndpointUpdate& update, Nanos now_mono);
  // Returns true if they have changed.
  bool setOwn(std::vector<plan::Endpoint> own);

  bool isKnown() const { return held_.version.controller != 0; }
  plan::EndpointVersion version() const { return held_.version; }
  const std::vector<plan::Endpoint>& own() const { return own_; }
  std::shared_ptr<const plan::EndpointTable> table() const;

  Nanos saveDue() const { return save_due_; }  // CLOCK_MONOTONIC
  void save();  // writes the table if it has changed, and logs a failure

 private:
  const StateDir& state_;
  plan::HeldEndpoints held_;
  std::vector<plan::Endpoint> own_;
  Nanos save_due_ = kNever;
  bool failure_logged_ = false;
};

}  // namespace pingloom::agent
