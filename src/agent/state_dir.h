// The agent's state directory, which only one agent uses at a time. It holds what an agent has to
// remember across restarts. One thread.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <utility>

#include "common/error.h"
#include "common/fd.h"
#include "common/time.h"
#include "plan/endpoint_codec.h"
#include "plan/plan.h"

namespace pingloom::agent {

class StateDir {
 public:
  // Creates the directory if it is missing. Returns an error if it is not writable or another agent
  // uses it.
  static Result<StateDir> take(const std::filesystem::path& path);

  // Returns a number that grows with every call, across restarts and clock steps: max(now, last +
  // 1, above + 1).
  std::uint64_t nextIncarnation(Nanos now_utc, std::uint64_t above = 0);

  // Returns the plan of the last run, or nullptr if there is none or it is damaged, which is
  // logged.
  std::shared_ptr<const plan::Plan> loadPlan() const;
  Status savePlan(const plan::Plan& plan) const;

  // Returns the endpoint table of the last run in the same way; an empty table if there is none.
  plan::HeldEndpoints loadEndpoints() const;
  Status saveEndpoints(const plan::HeldEndpoints& held) const;

  std::filesystem::path spool() const { return path_ / "spool"; }

 private:
  explicit StateDir(std::filesystem::path path) : path_(std::move(path)) {}
  std::uint64_t lastIncarnation() const;

  std::filesystem::path path_;
  UniqueFd lock_;  // a flock, which the kernel releases however the agent ends
};

}  // namespace pingloom::agent
