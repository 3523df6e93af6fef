// Keeps a Redis Cluster in step with the board: a RedisWriter, with a thread and a connection of
// its own, for each master (a lane), so that a master that is away delays its own slots only.
// A thread of its own keeps the table of slots: it asks for it (CLUSTER SLOTS) at the start, after
// a MOVED, and four times a second while a master is away or a slot has none; less often while no
// server answers. It also removes what an earlier controller has left, because for that all masters
// are needed.
// Bounds: SlotTable::kMaxMasters lanes, each with those of RedisWriter.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

#include "common/backoff.h"
#include "controller/model/board.h"
#include "controller/redis/slot_table.h"
#include "controller/redis/target.h"
#include "controller/redis/writer.h"

namespace pingloom::controller {

class RedisClusterWriter {
 public:
  static constexpr Nanos kAskEvery = 250 * kMillisecond;

  // REQUIRES: the target names a cluster; the board outlives the writer. `leads` as for
  // RedisWriter.
  RedisClusterWriter(RedisTarget target, RedisLogin login, Board& board,
                     RedisWriter::Leads leads = nullptr);
  ~RedisClusterWriter();  // joins all threads, which takes a few RedisConnection::kTimeout at most
  RedisClusterWriter(const RedisClusterWriter&) = delete;
  RedisClusterWriter& operator=(const RedisClusterWriter&) = delete;

 private:
  struct Lane {
    ClusterMaster master;
    RedisStatus status;                   // guarded by mutex_
    std::unique_ptr<RedisWriter> writer;  // ends before what it reports to
  };
  using Lanes = std::vector<std::unique_ptr<Lane>>;
  // What the last removal of leftovers was for: the number of connections that the lanes have made,
  // and the plan's generation.
  using Occasion = std::tuple<std::uint64_t, std::uint64_t>;

  void run();
  void wake();
  bool wantsTable();
  void askForTable();
  Result<SlotTable> ask(const RedisServer& server);
  std::vector<RedisServer> whomToAsk();
  void use(const SlotTable& table);
  std::unique_ptr<Lane> startLane(const ClusterMaster& master);
  void removeLeftoversIfDue();
  RedisStatus total();

  const RedisTarget target_;
  const RedisLogin login_;
  Board& board_;
  const RedisWriter::Leads leads_;

  std::mutex mutex_;
  std::condition_variable wake_;
  bool woken_ = false;
  bool stop_ = false;
  bool moved_ = false;

  // The members below belong to this object's thread.
  Lanes lanes_;
  RedisStatus ended_;  // the counts of lanes that are no more
  std::size_t without_master_ = kRedisSlots;
  std::string problem_ = "does not know the cluster's masters yet";  // "" if the table is known
  std::size_t turn_ = 0;
  Nanos ask_mono_ = 0;  // not before
  Backoff backoff_{kAskEvery, RedisWriter::kMaxRetry};
  Nanos started_mono_ = 0;
  bool problem_logged_ = false;
  Occasion cleaned_{};
  Nanos cleaned_mono_ = 0;
  bool cleaning_logged_ = false;

  std::thread thread_;
};

}  // namespace pingloom::controller
