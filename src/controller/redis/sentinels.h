// Asks sentinels where the master is. Each question goes to one sentinel, so that it takes a few
// seconds at most. One thread.
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "common/error.h"
#include "controller/redis/target.h"

namespace pingloom::controller {

class Sentinels {
 public:
  Sentinels(std::string master, std::vector<RedisServer> servers)
      : master_(std::move(master)), servers_(std::move(servers)) {}

  // REQUIRES: there are sentinels.
  Result<RedisTarget> askForMaster() const;
  // Makes the next question go to another sentinel, because this one did not help.
  void turn() { asked_ = (asked_ + 1) % servers_.size(); }

 private:
  const std::string master_;
  const std::vector<RedisServer> servers_;
  std::size_t asked_ = 0;
};

}  // namespace pingloom::controller
