// The agent's state directory: taken by one agent at a time, with what an agent has to remember
// across restarts. One thread.
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
  // Makes it where it is missing. An error where it is not writable or another agent has it.
  static Result<StateDir> take(const std::filesystem::path& path);

  // Grows with every call, across restarts and stepped clocks: max(now, last + 1, above + 1).
  std::uint64_t nextIncarnation(Nanos now_utc, std::uint64_t above = 0);

  // The plan of the last run; nullptr where there is none or it is damaged (logged).
  std::shared_ptr<const plan::Plan> loadPlan() const;
  Status savePlan(const plan::Plan& plan) const;

  // Likewise the endpoint table; one without any endpoint where there is none.
  plan::HeldEndpoints loadEndpoints() const;
  Status saveEndpoints(const plan::HeldEndpoints& held) const;

  std::filesystem::path spool() const { return path_ / "spool"; }

 private:
  explicit StateDir(std::filesystem::path path) : path_(std::move(path)) {}
  std::uint64_t lastIncarnation() const;

  std::filesystem::path path_;
  UniqueFd lock_;  // flock; the kernel gives it back however the agent ends
};

}  // namespace pingloom::agent
