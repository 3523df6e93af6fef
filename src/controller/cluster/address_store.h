// The RDMA endpoints that controllers tell each other, in the table pingloom_addresses
// (cluster_tables.h). Each transaction takes the next number of a change, under the lock of one
// row, so that numbers grow in the order of commits, and a reader that has seen a number misses
// none below it. One thread, which owns the database.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "common/error.h"
#include "common/time.h"
#include "controller/history/sql/database.h"
#include "controller/model/shared_address.h"

namespace pingloom::controller {

class AddressStore {
 public:
  static constexpr std::int64_t kMaxRead = 20'000;   // rows at once
  static constexpr std::size_t kMaxWritten = 4'000;  // in one transaction
  // The endpoints of a controller whose session has ended are kept for so long, because its agents
  // go on and register elsewhere.
  static constexpr Nanos kKeepOrphans = 20 * kSecond;

  Status prepare(Database& database);
  // Writes in the transaction that is open, at most kMaxWritten. What another session has written
  // is not removed.
  Status write(std::int64_t session, const std::vector<SharedAddress>& changes);
  // Returns what others have written since the last call; without an endpoint where this session
  // has taken the address over.
  Result<std::vector<SharedAddress>> read(std::int64_t session);
  // The leader removes what controllers have left that ended kKeepOrphans ago. Returns whether
  // there is anything to be committed; writes in the transaction that is open.
  Result<bool> removeOrphans(Nanos now_mono);

 private:
  Result<std::int64_t> nextChange();

  Statement next_change_;
  Statement put_;
  Statement clear_;
  Statement read_;
  Statement orphans_;
  Statement clear_session_;
  std::int64_t seen_ = 0;
  std::map<std::int64_t, Nanos> orphaned_;  // since when a session has been seen to be over
};

}  // namespace pingloom::controller
