// Asks sentinels where the master is. Each question goes to one sentinel, so that it takes a few
// seconds at most. One thread.
#pragma once

#include <cstddef>
#include <utility>

#include "common/error.h"
#include "controller/redis/target.h"

namespace pingloom::controller {

class Sentinels {
 public:
  explicit Sentinels(RedisTarget target) : target_(std::move(target)) {}

  // REQUIRES: the target has sentinels.
  Result<RedisTarget> askForMaster() const;
  // Makes the next question go to another sentinel, because this one did not help.
  void turn() { asked_ = (asked_ + 1) % target_.servers.size(); }

 private:
  const RedisTarget target_;
  std::size_t asked_ = 0;
};

}  // namespace pingloom::controller
