#include "controller/redis/cluster_writer.h"

#include <fmt/format.h>
#include <pthread.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "common/log.h"
#include "controller/redis/cluster_client.h"
#include "controller/redis/leftovers.h"

namespace pingloom::controller {
namespace {

constexpr Nanos kCleanEvery = 2 * kSecond;
// A cluster that is just starting is not logged.
constexpr Nanos kClusterPatience = 3 * kSecond;

}  // namespace

RedisClusterWriter::RedisClusterWriter(RedisTarget target, RedisLogin login, Board& board,
                                       RedisWriter::Leads leads)
    : target_(std::move(target)),
      login_(std::move(login)),
      board_(board),
      leads_(std::move(leads)),
      started_mono_(monotonicNow()) {
  thread_ = std::thread([this] { run(); });
  pthread_setname_np(thread_.native_handle(), "redis-slots");
}

RedisClusterWriter::~RedisClusterWriter() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  wake_.notify_one();
  thread_.join();
}

void RedisClusterWriter::wake() {
  {
    const std::lock_guard lock(mutex_);
    woken_ = true;
  }
  wake_.notify_one();
}

void RedisClusterWriter::run() {
  for (;;) {
    if (wantsTable() && monotonicNow() >= ask_mono_) askForTable();
    removeLeftoversIfDue();
    board_.publishRedis(std::make_shared<const RedisStatus>(total()));
    std::unique_lock lock(mutex_);
    wake_.wait_for(lock, std::chrono::nanoseconds(kAskEvery), [this] { return woken_ || stop_; });
    if (stop_) break;
    woken_ = false;
  }
  for (const auto& lane : lanes_) lane->writer->end();
  lanes_.clear();
}

bool RedisClusterWriter::wantsTable() {
  if (without_master_ > 0) return true;
  const std::lock_guard lock(mutex_);
  return moved_ || std::any_of(lanes_.begin(), lanes_.end(),
                               [](const auto& lane) { return !lane->status.connected; });
}

// A server that does not answer costs seconds, so those are preferred to which a lane is connected.
std::vector<RedisServer> RedisClusterWriter::whomToAsk() {
  std::vector<RedisServer> connected;
  std::vector<RedisServer> all = target_.servers;
  const std::lock_guard lock(mutex_);
  for (const auto& lane : lanes_) {
    all.push_back(lane->master.server);
    if (lane->status.connected) connected.push_back(lane->master.server);
  }
  return connected.empty() ? all : connected;
}

Result<SlotTable> RedisClusterWriter::ask(const RedisServer& server) {
  const auto connection = RedisConnection::connect(target_.at(server), login_);
  if (!connection) return tl::unexpected(connection.error());
  return askForSlots(**connection, server);
}

void RedisClusterWriter::askForTable() {
  {
    const std::lock_guard lock(mutex_);
    moved_ = false;
  }
  const auto servers = whomToAsk();
  const auto table = ask(servers[turn_++ % servers.size()]);
  const Nanos now = monotonicNow();
  if (table) {
    ask_mono_ = now + kAskEvery;
    backoff_.reset();
    problem_.clear();
    problem_logged_ = false;
    return use(*table);
  }
  ask_mono_ = now + backoff_.fail();
  problem_ = table.error().text();
  const bool starting = lanes_.empty() && now - started_mono_ < kClusterPatience;
  if (!starting && !std::exchange(problem_logged_, true)) {
    log::error("{}; the cluster's other servers are asked", problem_);
  }
  const std::lock_guard lock(mutex_);
  moved_ = true;
}

void RedisClusterWriter::use(const SlotTable& table) {
  without_master_ = table.withoutMaster();
  Lanes free = std::exchange(lanes_, {});
  std::vector<const ClusterMaster*> others;
  const auto keep = [&](Lanes::iterator lane, const ClusterMaster& master) {
    if ((*lane)->master.slots != master.slots || (*lane)->master.server != master.server) {
      (*lane)->writer->take(master);
    }
    (*lane)->master = master;
    lanes_.push_back(std::move(*lane));
    free.erase(lane);
  };
  for (const ClusterMaster& master : table.masters) {
    const auto same = std::find_if(free.begin(), free.end(), [&](const auto& lane) {
      return lane->master.server == master.server;
    });
    same == free.end() ? others.push_back(&master) : keep(same, master);
  }
  for (const ClusterMaster* master : others) {
    // A replica that has been promoted gets the lane of its master, and what waits there.
    const auto before = std::find_if(free.begin(), free.end(), [&](const auto& lane) {
      return (lane->master.slots & master->slots).any();
    });
    before == free.end() ? lanes_.push_back(startLane(*master)) : keep(before, *master);
  }
  for (const auto& lane : free) lane->writer->end();  // all at once, before the first is awaited
  for (const auto& lane : free) {
    const std::lock_guard lock(mutex_);
    ended_.rows_written += lane->status.rows_written;
    ended_.reconnects += lane->status.reconnects;
    ended_.events_dropped += lane->status.events_dropped;
  }
}

std::unique_ptr<RedisClusterWriter::Lane> RedisClusterWriter::startLane(
    const ClusterMaster& master) {
  auto made = std::make_unique<Lane>();
  made->master = master;
  RedisTarget target = target_;
  target.servers.clear();
  const auto report = [this, lane = made.get()](const RedisStatus& status) {
    {
      const std::lock_guard lock(mutex_);
      lane->status = status;
    }
    wake();
  };
  const auto moved = [this] {
    {
      const std::lock_guard lock(mutex_);
      moved_ = true;
    }
    wake();
  };
  made->writer = std::make_unique<RedisWriter>(std::move(target), login_, board_, leads_,
                                               RedisWriter::Lane{master, report, moved});
  return made;
}

// Whenever a master was away, the plan may have changed meanwhile.
void RedisClusterWriter::removeLeftoversIfDue() {
  const RedisStatus status = total();
  const auto plan = board_.plan();
  if (!status.connected || plan->pinglist == nullptr || (leads_ != nullptr && !leads_())) {
    cleaned_ = {};
    return;
  }
  const Occasion occasion{1 + status.reconnects, plan->generation};
  const Nanos now = monotonicNow();
  if (occasion == cleaned_ || now - cleaned_mono_ < kCleanEvery) return;
  cleaned_mono_ = now;
  RedisTarget target = target_;
  for (const auto& lane : lanes_)
    target.servers.insert(target.servers.begin(), lane->master.server);
  RedisClusterClient client(std::move(target), login_);
  // Removing much takes long, and what is to be removed depends on all of this.
  const auto go_on = [&]() -> Status {
    const std::lock_guard lock(mutex_);
    const bool same = !stop_ && !moved_ && (leads_ == nullptr || leads_()) &&
                      board_.plan()->generation == plan->generation;
    return same ? Status() : makeError("redis cluster", "the plan, the leader or a master changes");
  };
  const IndexAccess access{[&](const std::string& key) -> Result<std::vector<std::string>> {
                             if (auto same = go_on(); !same) return tl::unexpected(same.error());
                             return client.members(key);
                           },
                           [&](Commands& commands) {
                             auto same = go_on();
                             return same ? client.run(commands) : same;
                           }};
  const auto done = removeLeftovers(*plan, access);
  if (!done) {
    if (!std::exchange(cleaning_logged_, true)) {
      log::error("{}; what an earlier controller has left stays", done.error().text());
    }
    return;
  }
  cleaning_logged_ = false;
  cleaned_ = occasion;
  if (board_.plan()->generation == plan->generation) return;
  // A lane may have written what was removed because it was not in the plan before.
  for (const auto& lane : lanes_) lane->writer->writeAgain();
}

RedisStatus RedisClusterWriter::total() {
  RedisStatus sum = ended_;
  sum.target = target_.text();
  sum.connected = without_master_ == 0;
  if (!sum.connected) {
    sum.last_error =
        !problem_.empty() ? problem_ : fmt::format("{} slots have no master", without_master_);
  }
  const std::lock_guard lock(mutex_);
  for (const auto& lane : lanes_) {
    const RedisStatus& status = lane->status;
    sum.rows_written += status.rows_written;
    sum.reconnects += status.reconnects;
    sum.events_dropped += status.events_dropped;
    if (status.connected) continue;
    sum.connected = false;
    if (sum.last_error.empty()) sum.last_error = status.last_error;
  }
  return sum;
}

}  // namespace pingloom::controller
