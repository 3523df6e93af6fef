// One controller's membership among those that share a history: it joins, renews its lease, removes
// members whose lease has ended, takes the lead when there is no leader, and reads who is there. If
// its session has ended, it joins again with a new one. No thread: the owner calls renew() every
// kRenewInterval, on one thread, and passes the time in. The database's clock decides about leases;
// the time that is passed in only says when this controller stops to call itself the leader.
//
// A member judges others only after it has renewed its own lease for a whole lease without a gap:
// after an outage of the database all leases have ended, and whoever is back first would remove all
// others.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/error.h"
#include "common/time.h"
#include "controller/cluster/lease_store.h"
#include "controller/history/fence.h"
#include "controller/history/sql/place.h"
#include "controller/model/cluster_status.h"
#include "controller/model/incident.h"

namespace pingloom::controller {

struct LeaseOptions {
  HistoryPlace place;
  ClusterMember self;               // name, address and http count
  std::filesystem::path state_dir;  // remembers the installation
};

class Lease {
 public:
  static constexpr Nanos kRenewInterval = kSecond;
  // Windows are numbered by the clocks of controllers, so these must not differ by more.
  static constexpr Nanos kMaxClockDifference = kMinute;

  explicit Lease(LeaseOptions options) : options_(std::move(options)) {
    status_.name = options_.self.name;
  }

  // Joins. Returns the member that has the name already, or nullopt. An error if the database
  // cannot be used, is another installation's, or has another time.
  Result<std::optional<ClusterMember>> join(Instant now);
  void renew(std::uint64_t agents, Nanos lag, Instant now);
  // Whether the leader has left, or its session was ended: the next renewal of some member takes
  // the lead. False if this is not known.
  bool leaderIsGone();
  // Ends the session, so that the others need not wait for the end of the lease.
  void leave();

  const std::shared_ptr<Fence>& fence() const { return fence_; }
  const ClusterStatus& status() const { return status_; }
  // What the ledger has of incidents, silences and maintenance, if it was read since the last call:
  // always while another controller leads, and once when this one has become the leader.
  std::optional<std::vector<VerdictRecord>> takeVerdicts();

  // Tells the other controllers. Fails without a session.
  Status share(const std::vector<SharedAddress>& changes);
  // What they have told since the last call.
  Result<std::vector<SharedAddress>> shared();

 private:
  Status connect();
  Status checkInstallation();
  Status checkClock(Nanos utc);
  void joinAgain(Instant now);
  Status look(Instant now);
  void failed(const Error& error, Instant now);

  LeaseOptions options_;
  std::shared_ptr<Fence> fence_ = std::make_shared<Fence>();
  std::optional<LeaseStore> store_;
  ClusterStatus status_;
  std::optional<std::vector<VerdictRecord>> verdicts_;
  Nanos renewed_mono_ = 0;
  Nanos steady_since_mono_ = 0;
  bool failure_logged_ = false;
};

// The id of the installation that the controller belongs to, "" if it has never joined.
Result<std::string> rememberedInstallation(const std::filesystem::path& state_dir);

// What is said about a member that has the name of `self`.
Error nameTaken(const ClusterMember& other);

}  // namespace pingloom::controller
