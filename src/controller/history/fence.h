// What a controller that shares its history with others holds at present: a session, and the epoch
// if it leads. Every transaction of the ledger checks in the database, before it commits, that the
// session has not ended, and where only the leader writes, that the epoch is still the newest
// (cluster/lease_store.h). So a controller that was paused commits nothing after another one has
// taken its place. Any thread.
#pragma once

#include <cstdint>
#include <mutex>
#include <string>

#include "common/time.h"

namespace pingloom::controller {

class Fence {
 public:
  struct Held {
    std::int64_t session = 0;  // 0: none
    std::int64_t epoch = 0;    // 0: another controller leads, or none does
  };

  // `until_mono`: when the lease ends, if it is not renewed.
  void set(Held held, Nanos until_mono) {
    const std::lock_guard lock(mutex_);
    held_ = held;
    until_mono_ = until_mono;
  }
  Held held() const {
    const std::lock_guard lock(mutex_);
    return held_;
  }
  // Whether this controller leads and its lease has not ended. No other one leads at that time.
  bool leads(Nanos now_mono) const {
    const std::lock_guard lock(mutex_);
    return held_.epoch != 0 && now_mono < until_mono_;
  }

 private:
  mutable std::mutex mutex_;
  Held held_;
  Nanos until_mono_ = 0;
};

// The role that a transaction needs.
enum class Writer { kMember, kLeader };

// SQL that commits a transaction of PostgreSQL if the fence still holds. It is one message to the
// server, so that a controller that is paused holds none of these locks for longer than it takes.
std::string fencedCommit(Fence::Held held, Writer writer);

}  // namespace pingloom::controller
