// Removes from Redis what the index names (docs/redis-keys.md) and the plan in force does not have,
// because an earlier controller has left it. Keys of other programs are never touched. No state.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "common/error.h"
#include "controller/model/board.h"
#include "controller/redis/resp.h"

namespace pingloom::controller {

struct IndexAccess {
  // Reads a set, after everything that was removed before.
  std::function<Result<std::vector<std::string>>(const std::string& key)> members;
  // Executes the commands and clears them, at once or later.
  std::function<Status(Commands& commands)> remove;
};

Status removeLeftovers(const GridPlan& plan, const IndexAccess& access);

}  // namespace pingloom::controller
