#include "controller/redis/writer.h"

#include <pthread.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "common/log.h"
#include "controller/redis/leftovers.h"
#include "controller/redis/nodes.h"

namespace pingloom::controller {
namespace {

constexpr Nanos kIdle = kSecond;  // when idle this long, the connection is checked
constexpr Nanos kCountersInterval = 250 * kMillisecond;
// A Redis that is just starting is not logged.
constexpr Nanos kPatience = 3 * kSecond;

}  // namespace

RedisWriter::RedisWriter(RedisTarget target, RedisLogin login, Board& board, Leads leads,
                         std::optional<Lane> lane)
    : login_(std::move(login)),
      board_(board),
      leads_(std::move(leads)),
      target_(std::move(target)),
      lane_(std::move(lane)),
      sentinels_(target_),
      store_(leads_ != nullptr),
      started_mono_(monotonicNow()) {
  if (lane_) useMaster();
  status_.target = target_.text();
  publish();
  feed_ = board_.subscribe([signal = signal_] {
    {
      const std::lock_guard lock(signal->mutex);
      if (std::exchange(signal->changed, true)) return;
    }
    signal->wake.notify_one();
  });
  thread_ = std::thread([this] { run(); });
  pthread_setname_np(thread_.native_handle(), "redis");
}

RedisWriter::~RedisWriter() {
  end();
  thread_.join();
}

void RedisWriter::end() {
  {
    const std::lock_guard lock(signal_->mutex);
    signal_->stop = true;
  }
  signal_->wake.notify_one();
}

void RedisWriter::take(ClusterMaster master) {
  {
    const std::lock_guard lock(signal_->mutex);
    signal_->master = std::move(master);
  }
  signal_->wake.notify_one();
}

void RedisWriter::writeAgain() {
  {
    const std::lock_guard lock(signal_->mutex);
    signal_->again = true;
  }
  signal_->wake.notify_one();
}

bool RedisWriter::waitFor(Nanos longest, bool for_changes) {
  Signal& signal = *signal_;
  std::unique_lock lock(signal.mutex);
  signal.wake.wait_for(lock, std::chrono::nanoseconds(longest), [&] {
    return signal.stop || signal.master || (for_changes && (signal.changed || signal.again));
  });
  return !signal.stop;
}

void RedisWriter::run() {
  while (waitFor(connection_ == nullptr ? 0 : kIdle, true)) {
    if (const auto status = takeOrders(); !status) lost(status.error());
    if (connection_ == nullptr) {
      if (const auto status = connect(); !status) {
        lost(status.error());
        if (!waitFor(backoff_.fail(), false)) return;
        continue;
      }
    }
    if (const auto status = writeChanges(); !status) lost(status.error());
    if (monotonicNow() - published_mono_ >= kCountersInterval) publish();
  }
}

void RedisWriter::useMaster() {
  target_ = target_.at(lane_->master.server);
  commands_.keepOnly(&lane_->master.slots);
}

Status RedisWriter::takeOrders() {
  std::optional<ClusterMaster> master;
  bool again = false;
  {
    const std::lock_guard lock(signal_->mutex);
    master.swap(signal_->master);
    again = std::exchange(signal_->again, false);
  }
  if (master) {
    const bool other = master->server != lane_->master.server;
    const SlotSet gained = master->slots & ~lane_->master.slots;
    lane_->master = std::move(*master);
    useMaster();
    if (other) {
      connection_.reset();
      backoff_.reset();
      status_.target = target_.text();
      status_.connected = false;
      status_.last_error = "connects to a master that has taken over";
      publish();
    } else if (connection_ != nullptr && gained.any()) {
      if (auto status = writeGained(gained); !status) return status;
    }
  }
  return again && connection_ != nullptr ? resync() : Status();
}

// Sentinels are asked for each connection, because another server may be the master.
Result<std::unique_ptr<RedisConnection>> RedisWriter::open() {
  if (target_.kind != RedisTarget::Kind::kSentinel)
    return RedisConnection::connect(target_, login_);
  const auto master = sentinels_.askForMaster();
  if (!master) return tl::unexpected(master.error());
  auto connected = RedisConnection::connect(*master, login_);
  if (!connected) return connected;
  // One that has just lost its role may still be named.
  if (auto status = (*connected)->checkMaster(); !status) return tl::unexpected(status.error());
  return connected;
}

Status RedisWriter::connect() {
  auto connected = open();
  if (!connected && !target_.servers.empty()) sentinels_.turn();
  if (!connected) return tl::unexpected(connected.error());
  connection_ = std::move(*connected);
  if (lane_) connection_->keepRedirects();
  commands_.clear();
  if (auto status = resync(); !status) {
    // Another sentinel may know a master that takes what is written.
    if (!target_.servers.empty()) sentinels_.turn();
    return status;
  }
  if (loss_logged_ || connects_ > 0) log::info("connected to redis {}", status_.target);
  status_.reconnects = connects_++;
  loss_logged_ = false;
  backoff_.reset();
  status_.connected = true;
  status_.last_error.clear();
  publish();
  return {};
}

void RedisWriter::lost(const Error& error) {
  const bool starting = connects_ == 0 && monotonicNow() - started_mono_ < kPatience;
  if (!starting && !std::exchange(loss_logged_, true)) {
    log::error("{}; the latest rows are written when it is back", error.text());
  }
  connection_.reset();
  status_.connected = false;
  status_.last_error = error.text();
  publish();
}

// Writes everything on the board, and replaces what Redis held before.
Status RedisWriter::resync() {
  store_.forget(board_.plan());
  rows_under_way_ = 0;
  if (store_.plan().pinglist == nullptr)
    return {};  // rows of an earlier run stay until they expire
  leading_ = leads_ == nullptr || leads_();
  if (leading_) {
    if (auto status = removeLeftovers(); !status) return status;
  }
  return writeEverything();
}

Status RedisWriter::writeEverything() {
  store_.writeIndex(commands_);
  if (auto status = writeAll(); !status) return status;
  incidents_.forget();
  writeIncidents();
  if (auto status = writePaths(board_.paths().all()); !status) return status;
  return finish();
}

Status RedisWriter::writeGained(const SlotSet& gained) {
  if (store_.plan().pinglist == nullptr) return {};
  // What is new about incidents counts as written from here on, in all slots.
  writeIncidents();
  if (auto written = finish(); !written) return written;
  commands_.keepOnly(&gained);
  auto status = writeEverything();
  commands_.keepOnly(&lane_->master.slots);
  return status;
}

// A new leader replaces what the one before it has written about incidents.
Status RedisWriter::noteLead() {
  if (leads_ == nullptr || store_.plan().pinglist == nullptr) return {};
  if (std::exchange(leading_, leads_()) == leading_ || !leading_) return {};
  if (auto status = removeLeftovers(); !status) return status;
  incidents_.forget();
  writeIncidents();
  return finish();
}

// What a follower sees counts as told: the leader tells it.
void RedisWriter::writeIncidents() {
  // Writing all rows may have taken seconds.
  leading_ = leading_ && (leads_ == nullptr || leads_());
  Commands by_the_leader;
  incidents_.write(*board_.verdict(), leading_ ? commands_ : by_the_leader);
}

Status RedisWriter::writePaths(const KnownPaths& paths) {
  const auto map = board_.fabric();
  const auto names = routerNames(*map);
  for (const auto& known : paths) {
    if (leads_ != nullptr && known->elsewhere) continue;
    path_keys::write(*known, names, commands_);
    if (auto status = submitIfFull(); !status) return status;
  }
  return {};
}

// In a cluster the index may be at another master, so one thread does it for all
// (cluster_writer.h).
Status RedisWriter::removeLeftovers() {
  if (lane_) return {};
  const IndexAccess access{[this](const std::string& key) -> Result<std::vector<std::string>> {
                             if (auto status = finish(); !status)
                               return tl::unexpected(status.error());
                             return connection_->members(key);
                           },
                           [this](Commands& commands) { return connection_->submit(commands); }};
  if (auto status = controller::removeLeftovers(store_.plan(), access); !status) return status;
  return finish();
}

Status RedisWriter::writeAll() {
  const GridPlan& plan = store_.plan();
  for (std::uint32_t probe = 0; probe < plan.probes.size(); ++probe) {
    const auto snapshots = board_.sources(probe, plan.generation);
    for (std::uint32_t source = 0; source < snapshots.size(); ++source) {
      if (!commands_.takes(store_.keyOf(probe, source))) continue;
      rows_under_way_ +=
          store_.replaceSource(probe, source, snapshots[source], utcNow(), commands_);
      if (auto status = submitIfFull(); !status) return status;
    }
  }
  return {};
}

Status RedisWriter::writeChanges() {
  if (auto status = noteLead(); !status) return status;
  {
    const std::lock_guard lock(signal_->mutex);
    if (!std::exchange(signal_->changed, false)) return connection_->ping();
  }
  const Changes changes = feed_->take();
  if (commands_.takes(RedisKeys::kEventsKey)) status_.events_dropped += changes.events_dropped;
  const auto newest = board_.plan();
  if (changes.plan && newest->generation != store_.plan().generation) {
    if (store_.plan().pinglist == nullptr) return resync();
    store_.changePlan(newest, commands_);
    if (leads_ != nullptr && leading_) {
      // What nobody has written is left to the leader.
      if (auto status = finish(); !status) return status;
      if (auto status = removeLeftovers(); !status) return status;
    }
  }
  const GridPlan& plan = store_.plan();
  auto sources = changes.sources;
  if (changes.plan) {
    sources.clear();
    for (std::uint32_t i = 0; i < plan.probes.size(); ++i) {
      for (std::uint32_t j = 0; j < plan.probes[i].sources.size(); ++j) sources.emplace_back(i, j);
    }
  }
  for (const auto& [probe, source] : sources) {
    const auto snapshot = board_.source(probe, source, plan.generation);
    if (snapshot == nullptr) continue;  // another plan has come into force
    rows_under_way_ += store_.writeSource(probe, source, snapshot, utcNow(), commands_);
    if (auto status = submitIfFull(); !status) return status;
  }
  for (const StateEvent& event : changes.events) {
    store_.writeEvent(event, commands_);
    if (auto status = submitIfFull(); !status) return status;
  }
  if (changes.verdict) writeIncidents();
  const KnownPaths paths = changes.all_paths ? board_.paths().all() : changes.paths;
  if (auto status = writePaths(paths); !status) return status;
  if (!changes.all_paths) {
    const auto map = board_.fabric();
    const auto names = routerNames(*map);
    for (const auto& known : paths) {
      if (leads_ == nullptr || !known->elsewhere) path_keys::writeChange(*known, names, commands_);
    }
  }
  return finish();
}

Status RedisWriter::submitIfFull() {
  if (commands_.bytes().size() < kChunkBytes) return {};
  if (auto status = connection_->submit(commands_); !status) return status;
  return followRedirects();
}

Status RedisWriter::followRedirects() {
  auto redirected = connection_->takeRedirected();
  if (redirected.empty()) return {};
  const bool moved = std::any_of(redirected.begin(), redirected.end(),
                                 [](const Redirected& one) { return !one.to.ask; });
  if (moved) lane_->moved();
  RedisNodes nodes(target_, login_);
  return follow(nodes, std::move(redirected));
}

Status RedisWriter::finish() {
  if (auto status = connection_->submit(commands_); !status) return status;
  if (auto status = connection_->drain(); !status) return status;
  if (auto status = followRedirects(); !status) return status;
  status_.rows_written += std::exchange(rows_under_way_, 0);
  if (connection_->wrongTypes() > 0 && !std::exchange(wrong_type_logged_, true)) {
    log::error("redis {}: a key that begins with pingloom: is of another type; it is left alone",
               status_.target);
  }
  return {};
}

void RedisWriter::publish() {
  published_mono_ = monotonicNow();
  if (lane_) return lane_->report(status_);
  board_.publishRedis(std::make_shared<const RedisStatus>(status_));
}

}  // namespace pingloom::controller
