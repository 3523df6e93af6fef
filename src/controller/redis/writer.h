// Keeps Redis in step with the board, on its own thread. An outage of Redis blocks nothing else:
// the feed remembers which sources changed, and everything is written when Redis is back. Bounds:
// about kChunkBytes of commands per chunk (one long command may exceed it),
// RedisConnection::kChunksInFlight chunks, and the feed.
// Several controllers may share a Redis. Then each writes what it has from agents that are
// registered with it, and only the leader writes incidents and removes what nobody's plan has.
// Of a Redis Cluster, a writer has one master (cluster_writer.h): it writes the keys of that
// master's slots only, and what the master redirects it sends again.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "common/backoff.h"
#include "controller/model/board.h"
#include "controller/redis/connection.h"
#include "controller/redis/incident_keys.h"
#include "controller/redis/key_updates.h"
#include "controller/redis/path_keys.h"
#include "controller/redis/resp.h"
#include "controller/redis/sentinels.h"
#include "controller/redis/slot_table.h"
#include "controller/redis/target.h"

namespace pingloom::controller {

class RedisWriter {
 public:
  static constexpr std::size_t kChunkBytes = 512U << 10;
  static constexpr Nanos kFirstRetry = 100 * kMillisecond;
  static constexpr Nanos kMaxRetry = 2 * kSecond;

  // Says whether this controller leads those that share the Redis. The writer's thread calls it.
  using Leads = std::function<bool()>;

  // What is special about a writer for one master of a cluster. The writer's thread calls both.
  struct Lane {
    ClusterMaster master;
    std::function<void(const RedisStatus&)> report;  // instead of publishing the status
    std::function<void()> moved;                     // the master has lost a slot
  };

  // REQUIRES: the board outlives the writer. `leads`: nullptr if no other controller writes to this
  // Redis.
  RedisWriter(RedisTarget target, RedisLogin login, Board& board, Leads leads = nullptr,
              std::optional<Lane> lane = std::nullopt);
  ~RedisWriter();  // joins the thread, which takes a few RedisConnection::kTimeout at most
  RedisWriter(const RedisWriter&) = delete;
  RedisWriter& operator=(const RedisWriter&) = delete;

  // Makes the thread end, and does not wait for it.
  void end();
  // Both may be called by any thread, for a lane only. The first gives it another master, or other
  // slots; keys of slots that it did not have are written at once. The second makes it write
  // everything again.
  void take(ClusterMaster master);
  void writeAgain();

 private:
  // What other threads tell the writer's. The board may hold it longer than the writer lives.
  struct Signal {
    std::mutex mutex;
    std::condition_variable wake;
    bool changed = false;
    bool stop = false;
    bool again = false;
    std::optional<ClusterMaster> master;
  };
  void run();
  bool waitFor(Nanos longest, bool for_changes);  // returns false when the writer stops
  Result<std::unique_ptr<RedisConnection>> open();
  Status connect();
  void useMaster();
  Status takeOrders();
  Status resync();
  Status removeLeftovers();
  Status writeEverything();
  Status writeAll();
  Status writeGained(const SlotSet& gained);
  Status writeChanges();
  Status noteLead();
  void writeIncidents();
  Status writePaths(const KnownPaths& paths);
  Status submitIfFull();
  Status followRedirects();
  Status finish();
  void lost(const Error& error);
  void publish();

  const RedisLogin login_;
  Board& board_;
  const Leads leads_;
  std::shared_ptr<Feed> feed_;

  const std::shared_ptr<Signal> signal_ = std::make_shared<Signal>();

  // The members below belong to the writer's thread.
  RedisTarget target_;
  std::optional<Lane> lane_;
  Sentinels sentinels_;  // there are none unless the target names them
  std::unique_ptr<RedisConnection> connection_;
  RedisKeys store_;
  IncidentKeys incidents_;
  bool leading_ = false;  // what leads_ said last
  Commands commands_;
  std::uint64_t rows_under_way_ = 0;
  std::uint64_t connects_ = 0;
  RedisStatus status_;
  Backoff backoff_{kFirstRetry, kMaxRetry};
  Nanos started_mono_ = 0;
  bool loss_logged_ = false;
  bool wrong_type_logged_ = false;
  Nanos published_mono_ = 0;

  std::thread thread_;
};

}  // namespace pingloom::controller
