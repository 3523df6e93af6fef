#include "controller/redis/writer.h"

#include <pthread.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "common/log.h"
#include "controller/model/grid_plan.h"

namespace pingloom::controller {
namespace {

constexpr Nanos kIdle = kSecond;  // when idle this long, the connection is checked
constexpr Nanos kCountersInterval = 250 * kMillisecond;
// A Redis that is just starting is not logged.
constexpr Nanos kPatience = 3 * kSecond;

}  // namespace

RedisWriter::RedisWriter(RedisTarget target, RedisLogin login, Board& board, Leads leads)
    : target_(std::move(target)),
      login_(std::move(login)),
      board_(board),
      leads_(std::move(leads)),
      sentinels_(target_),
      store_(leads_ != nullptr),
      started_mono_(monotonicNow()) {
  status_.target = target_.text();
  publish();
  feed_ = board_.subscribe([this] {
    {
      const std::lock_guard lock(mutex_);
      if (std::exchange(changed_, true)) return;
    }
    wake_.notify_one();
  });
  thread_ = std::thread([this] { run(); });
  pthread_setname_np(thread_.native_handle(), "redis");
}

RedisWriter::~RedisWriter() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  wake_.notify_one();
  thread_.join();
}

bool RedisWriter::waitFor(Nanos longest, bool for_changes) {
  std::unique_lock lock(mutex_);
  wake_.wait_for(lock, std::chrono::nanoseconds(longest),
                 [&] { return stop_ || (for_changes && changed_); });
  return !stop_;
}

void RedisWriter::run() {
  while (waitFor(connection_ == nullptr ? 0 : kIdle, true)) {
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
  if (!connected && !target_.sentinels.empty()) sentinels_.turn();
  if (!connected) return tl::unexpected(connected.error());
  connection_ = std::move(*connected);
  commands_.clear();
  if (auto status = resync(); !status) {
    // Another sentinel may know a master that takes what is written.
    if (!target_.sentinels.empty()) sentinels_.turn();
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
  store_.writeIndex(commands_);
  if (auto status = writeAll(); !status) return status;
  incidents_.forget();
  writeIncidents();
  if (auto status = writePaths(board_.paths().all()); !status) return status;
  return finish();
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

// Removes only keys that the index names; keys of other programs are never touched.
Status RedisWriter::removeLeftovers() {
  const auto probes = connection_->members(RedisKeys::kProbesKey);
  if (!probes) return tl::unexpected(probes.error());
  for (const std::string& name : *probes) {
    const auto probe = probeNamed(store_.plan(), name);
    ProbeGrid gone;
    gone.spec.name = name;
    if (auto status = removeLeftSources(probe ? store_.plan().probes[*probe] : gone); !status) {
      return status;
    }
    if (!probe) RedisKeys::removeProbe(name, commands_);
  }
  return finish();
}

Status RedisWriter::removeLeftSources(const ProbeGrid& probe) {
  if (auto status = finish(); !status) return status;
  const auto sources = connection_->members(RedisKeys::sourcesKey(probe.spec.name));
  if (!sources) return tl::unexpected(sources.error());
  for (const std::string& source : *sources) {
    const auto address = IpAddress::parse(source);
    const bool stays = address && address->text() == source &&
                       std::binary_search(probe.sources.begin(), probe.sources.end(), *address);
    if (!stays) RedisKeys::removeSource(probe.spec.name, source, commands_);
    if (auto status = submitIfFull(); !status) return status;
  }
  return {};
}

Status RedisWriter::writeAll() {
  const GridPlan& plan = store_.plan();
  for (std::uint32_t probe = 0; probe < plan.probes.size(); ++probe) {
    const auto snapshots = board_.sources(probe, plan.generation);
    for (std::uint32_t source = 0; source < snapshots.size(); ++source) {
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
    const std::lock_guard lock(mutex_);
    if (!std::exchange(changed_, false)) return connection_->ping();
  }
  const Changes changes = feed_->take();
  status_.events_dropped += changes.events_dropped;
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
  return commands_.bytes().size() < kChunkBytes ? Status{} : connection_->submit(commands_);
}

Status RedisWriter::finish() {
  if (auto status = connection_->submit(commands_); !status) return status;
  if (auto status = connection_->drain(); !status) return status;
  status_.rows_written += std::exchange(rows_under_way_, 0);
  if (connection_->wrongTypes() > 0 && !std::exchange(wrong_type_logged_, true)) {
    log::error("redis {}: a key that begins with pingloom: is of another type; it is left alone",
               status_.target);
  }
  return {};
}

void RedisWriter::publish() {
  published_mono_ = monotonicNow();
  board_.publishRedis(std::make_shared<const RedisStatus>(status_));
}

}  // namespace pingloom::controller
