// The thread that keeps a controller's lease (lease.h), so that a busy control thread or a slow
// ledger does not lose it. It publishes who is there to the board, and hands the control thread
// what it needs of incidents: a follower shows what the leader has written, and a new leader begins
// with it. It also exchanges the RDMA endpoints of agents with the other controllers, and looks
// whether the leader has left, every kExchangeInterval. Any thread may construct, ask and destroy.
// Bounds: plan::kMaxEndpoints addresses that wait to be told; those that others tell are taken as
// fast as they come.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "common/error.h"
#include "common/fd.h"
#include "controller/cluster/lease.h"
#include "controller/model/board.h"

namespace pingloom::controller {

class Cluster {
 public:
  static constexpr Nanos kExchangeInterval = 250 * kMillisecond;

  // Joins. Waits for the end of the lease of a predecessor that was killed, which is that of a
  // member with the same name that does not renew it. The board must outlive the cluster.
  static Result<std::unique_ptr<Cluster>> join(LeaseOptions options, Board& board);
  ~Cluster();  // leaves
  Cluster(const Cluster&) = delete;
  Cluster& operator=(const Cluster&) = delete;

  std::shared_ptr<const Fence> fence() const { return lease_.fence(); }
  // What the others see of this controller from the next renewal on.
  void setLoad(std::uint64_t agents, Nanos lag);
  // Tells the others. After another session all has to be told again.
  void share(const std::vector<SharedAddress>& changes);

  int descriptor() const { return event_.get(); }  // readable when there is news
  struct News {
    bool leads = false;
    std::int64_t session = 0;
    std::optional<std::vector<VerdictRecord>> verdicts;
    std::vector<SharedAddress> addresses;  // what the others have told since, in order
  };
  // The newest, if there is any since the last call.
  std::optional<News> takeNews();

 private:
  Cluster(Lease lease, Board& board);
  void run();
  void renew();
  void exchange();
  void write();
  void wakeOwner() const;

  Lease lease_;  // the thread's
  Board& board_;
  UniqueFd event_;  // eventfd

  std::mutex mutex_;
  std::condition_variable wake_;
  bool stop_ = false;
  std::uint64_t agents_ = 0;
  Nanos lag_ = 0;
  std::optional<News> news_;
  std::map<IpAddress, std::optional<plan::Endpoint>> to_share_;

  std::thread thread_;
};

}  // namespace pingloom::controller
