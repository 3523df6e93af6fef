// The controllers that share a history, as one of them sees them (cluster/cluster.h). Any thread.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/time.h"

namespace pingloom::controller {

struct ClusterMember {
  std::string name;
  std::string address;       // HOST:PORT of its control port
  std::string http;          // HOST:PORT
  std::uint64_t agents = 0;  // that are registered with it
  Nanos lag = 0;             // for how long its ledger has not committed the batches that wait
  Nanos lease_left = 0;      // by the database's clock; not positive: it is about to be removed
  std::int64_t session = 0;
  bool leads = false;
};

struct ClusterStatus {
  std::string name;            // this controller's; "" if it works alone
  std::int64_t session = 0;    // 0: it is no member at present
  std::int64_t epoch = 0;      // of the leader
  bool leads = false;          // whether this controller leads
  Nanos lease_until_mono = 0;  // when its lease ends, if it is not renewed
  std::string error;           // why it is no member or cannot renew its lease; "" otherwise
  std::uint64_t sessions_lost = 0;
  std::vector<ClusterMember> members;  // by name, as they were last read

  bool alone() const { return name.empty(); }
  // The lease may end while the thread that renews it waits for the database. Then this controller
  // is no member, because the others may have removed it.
  ClusterStatus asOf(Nanos now_mono) const {
    ClusterStatus status = *this;
    if (alone() || session == 0 || now_mono < lease_until_mono) return status;
    status.session = 0;
    status.leads = false;
    if (status.error.empty())
      status.error = "the database does not answer, and the lease has ended";
    return status;
  }
  const char* role() const { return session == 0 ? "outside" : leads ? "leader" : "follower"; }
};

}  // namespace pingloom::controller
