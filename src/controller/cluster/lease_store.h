// The leases of the controllers that share a history, in its PostgreSQL database
// (cluster_tables.h). Only the database's clock decides. A member holds a row whose lease it
// renews; once the lease has ended, any other member may remove the row, and with it the session.
// The leader is named by a row with an epoch, which grows when a member takes over from one whose
// session has ended. Transactions of the ledger lock both rows against that (history/fence.h), so
// whoever takes over waits for what is being committed, and nothing is committed afterwards.
//
// It has a connection of its own. One thread. Waits are bounded by kStatementLimitMs for a
// statement, and by the limits of sql/postgres.h. Bound: kMaxMembers members.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/error.h"
#include "common/time.h"
#include "controller/cluster/address_store.h"
#include "controller/cluster/cluster_tables.h"
#include "controller/history/fence.h"
#include "controller/history/sql/database.h"
#include "controller/history/sql/place.h"
#include "controller/history/verdict_store.h"
#include "controller/model/cluster_status.h"

namespace pingloom::controller {

constexpr Nanos kControllerLease = 3 * kSecond;

class LeaseStore {
 public:
  static constexpr std::int64_t kMaxMembers = 64;

  // Fails if the database has no history or no tables for several controllers, or those of another
  // version.
  static Result<LeaseStore> open(const HistoryPlace& place);

  Result<std::string> installation() { return installationOf(database_); }
  Result<Nanos> utc();

  struct Joined {
    std::int64_t session = 0;  // 0: another member has the name
    ClusterMember other;       // that member
  };
  // Takes the name, address and http of `self`, and replaces a member of this name whose lease has
  // ended.
  Result<Joined> join(const ClusterMember& self);
  // Returns false if the session has ended.
  Result<bool> renew(std::int64_t session, std::uint64_t agents, Nanos lag);
  // Ends the sessions of other members whose lease has ended. Returns their number.
  Result<std::int64_t> removeExpired(std::int64_t session);
  // Takes the lead if the leader's session has ended.
  Status takeLead(std::int64_t session);
  // Whether the leader's session has not ended.
  Result<bool> hasLeader();
  // All members, and the leader's epoch.
  struct Members {
    std::vector<ClusterMember> list;
    std::int64_t epoch = 0;
  };
  Result<Members> members();
  Status leave(std::int64_t session);

  // Does the same as VerdictStore::load().
  Result<std::vector<VerdictRecord>> verdicts(Nanos closed_after_utc) {
    return verdicts_.load(closed_after_utc);
  }
  // See address_store.h.
  Status writeAddresses(Fence::Held held, const std::vector<SharedAddress>& changes);
  Result<std::vector<SharedAddress>> readAddresses(std::int64_t session) {
    return addresses_.read(session);
  }
  Status removeOrphans(Fence::Held held, Nanos now_mono);
  bool lost() const { return database_.lost(); }

 private:
  explicit LeaseStore(Database database) : database_(std::move(database)) {}
  Status prepare();
  Result<Joined> joinInside(const ClusterMember& self);

  Database database_;  // declared before its statements, and so destroyed after them
  Statement next_session_;
  Statement remove_namesake_;
  Statement insert_;
  Statement renew_;
  Statement remove_expired_;
  Statement take_lead_;
  Statement has_leader_;
  Statement members_;
  Statement leave_;
  VerdictStore verdicts_;
  AddressStore addresses_;
};

}  // namespace pingloom::controller
