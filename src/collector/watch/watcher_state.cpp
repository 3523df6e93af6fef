// How what is known about applications outlives the collector.
#include <pthread.h>

#include <algorithm>
#include <chrono>
#include <system_error>
#include <utility>

#include "collector/watch/watcher.h"
#include "common/log.h"
#include "common/time.h"

namespace pingloom::collector {

void Watcher::load() {
  std::error_code ignored;
  if (!std::filesystem::exists(file_, ignored)) return;
  const Nanos now_utc = utcNow();
  const Nanos now = monotonicNow();
  const auto whole = readWatchFile(file_, [&](const ShelfKey& key, Shelved shelved) {
    // A clock that was set back makes it as old as one that was watched just now.
    const Nanos age = std::max<Nanos>(now_utc - std::min(shelved.since, now_utc), 0);
    if (age >= WatchShelf::kKeep) return;
    shelved.since = now - age;
    shelf_.put(key, std::move(shelved));
    while (shelf_.features() > kMaxFeatures || shelf_.historyFeatures() > kMaxHistoryFeatures) {
      shelf_.dropOldest();
    }
  });
  if (!whole) {
    log::warning("{}; all applications are learned anew", whole.error().text());
    return;
  }
  if (!*whole) {
    log::warning("{}: damaged; what cannot be read is learned anew", file_.string());
  }
  log::info("{} groups of metrics are known from the last run", shelf_.all().size());
}

void Watcher::saveRegularly() {
  pthread_setname_np(pthread_self(), "watch-saver");
  std::unique_lock lock(mutex_);
  while (!wake_.wait_for(lock, std::chrono::nanoseconds(kSaveEvery), [this] { return stop_; })) {
    lock.unlock();
    save();
    lock.lock();
  }
}

// The mutex is held for one group at a time, so that no round waits for the disk.
void Watcher::save() {
  const auto status = [this]() -> Status {
    auto file = WatchFileWriter::begin(file_);
    if (!file) return tl::unexpected(file.error());
    if (auto saved = saveGroups(*file); !saved) return saved;
    return file->commit();
  }();
  if (!status && !save_failed_) {
    log::error("{}; what analytics have learned since the last save would be lost by a restart",
               status.error().text());
  }
  if (status && save_failed_) log::info("{}: saved again", file_.string());
  save_failed_ = !status;
  const std::lock_guard lock(mutex_);
  if (status) saved_utc_ = utcNow();
  if (!status) ++saves_failed_;
}

Status Watcher::saveGroups(WatchFileWriter& file) {
  const Nanos ahead = utcNow() - monotonicNow();
  std::vector<std::pair<ShelfKey, Shelved>> shelved;
  {
    const std::lock_guard lock(mutex_);
    shelved = shelf_.all();
  }
  for (auto& [key, kept] : shelved) {
    kept.since += ahead;
    if (auto status = file.add(key, kept); !status) return status;
  }
  for (const GroupKey& group : groupKeys()) {
    auto known = groupMemory(group);
    if (!known) continue;
    known->second.since += ahead;
    if (auto status = file.add(known->first, known->second); !status) return status;
  }
  return {};
}

std::vector<GroupKey> Watcher::groupKeys() const {
  const std::lock_guard lock(mutex_);
  std::vector<GroupKey> keys;
  for (const auto& [key, entry] : groups_) keys.push_back(key);
  return keys;
}

// Returns nullopt if the group is not watched, or gone.
std::optional<std::pair<ShelfKey, Shelved>> Watcher::groupMemory(const GroupKey& key) {
  const std::lock_guard lock(mutex_);
  const auto found = groups_.find(key);
  if (found == groups_.end() || found->second.watch == nullptr) return std::nullopt;
  const Entry& entry = found->second;
  return std::pair{ShelfKey{entry.host, entry.application, std::get<3>(key)},
                   shelve(*entry.watch, monotonicNow())};
}

}  // namespace pingloom::collector
