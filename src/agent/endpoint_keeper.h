// The mesh's RDMA endpoints as this agent knows them: the table that the controller pushes, kept on
// disk for the next start, with this agent's own endpoints laid over it, which it knows first. The
// control thread. Bounds: plan::kMaxEndpoints; the file is written at most every kSavePause.
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
  // Restarts come in swarms: the table is written once for many changes.
  static constexpr Nanos kSavePause = 5 * kSecond;

  // The directory outlives the keeper. Begins with what the last run kept.
  explicit EndpointKeeper(const StateDir& state) : state_(state), held_(state.loadEndpoints()) {}

  Status take(const wire::EndpointUpdate& update, Nanos now_mono);
  // True: they are other ones than before.
  bool setOwn(std::vector<plan::Endpoint> own);

  bool isKnown() const { return held_.version.controller != 0; }
  plan::EndpointVersion version() const { return held_.version; }
  const std::vector<plan::Endpoint>& own() const { return own_; }
  std::shared_ptr<const plan::EndpointTable> table() const;

  Nanos saveDue() const { return save_due_; }  // CLOCK_MONOTONIC
  void save();                                 // if something has changed; a failure is logged

 private:
  const StateDir& state_;
  plan::HeldEndpoints held_;
  std::vector<plan::Endpoint> own_;
  Nanos save_due_ = kNever;
  bool failure_logged_ = false;
};

}  // namespace pingloom::agent
