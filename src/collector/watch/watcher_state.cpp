// How what is known about applications outlives the collector.
#include <pthread.h>

#include <algorithm>
#include <chrono>
#include <system_error>
#include <utility>
#include <vector>

#include "collector/watch/watcher.h"
#include "common/log.h"
#include "common/time.h"

namespace pingloom::collector {

void Watcher::load() {
  std::error_code ignored;
  if (!std::filesystem::exists(file_, ignored)) return;
  std::vector<std::pair<ShelfKey, Shelved>> records;
  const auto whole = readWatchFile(file_, [&](ShelfKey key, Shelved shelved) {
    const bool possible = shelved.features >= 1 && shelved.features <= OwnerWatch::kMaxFeatures &&
                          shelved.history_features <= shelved.features;
    if (possible) records.emplace_back(std::move(key), std::move(shelved));
  });
  if (!whole) {
    const auto old = file_.native() + ".old";
    std::filesystem::rename(file_, old, ignored);
    log::warning("{}; all applications are learned anew, and it is kept as {}",
                 whole.error().text(), old);
    return;
  }
  if (!*whole) {
    log::warning("{}: damaged; what cannot be read is learned anew", file_.string());
  }
  putBack(std::move(records));
  log::info("{} groups of metrics are known from the last run", shelf_.all().size());
}

// Puts what was read on the shelf, where the oldest of a key comes first.
void Watcher::putBack(std::vector<std::pair<ShelfKey, Shelved>> records) {
  const Nanos now_utc = utcNow();
  const Nanos now = monotonicNow();
  std::stable_sort(records.begin(), records.end(),
                   [](const auto& a, const auto& b) { return a.second.since < b.second.since; });
  for (auto& [key, shelved] : records) {
    // A clock that was set back makes it as old as one that was watched just now.
    const Nanos age = now_utc - std::clamp<Nanos>(shelved.since, 0, now_utc);
    if (age >= WatchShelf::kKeep) continue;
    shelved.since = now - age;
    shelf_.put(key, std::move(shelved));
    while (shelf_.features() > kMaxFeatures || shelf_.historyFeatures() > kMaxHistoryFeatures) {
      shelf_.dropOldest();
    }
  }
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

// An application that ends meanwhile is on the shelf then, so that comes last. One that is written
// twice does no harm.
Status Watcher::saveGroups(WatchFileWriter& file) {
  const Nanos ahead = utcNow() - monotonicNow();
  const auto add = [&](const ShelfKey& key, Shelved kept) {
    kept.since += ahead;
    return file.add(key, kept);
  };
  for (const GroupKey& group : groupKeys()) {
    const auto known = groupMemory(group);
    if (!known) continue;
    if (auto status = add(known->first, known->second); !status) return status;
  }
  std::vector<std::pair<ShelfKey, Shelved>> shelved;
  {
    const std::lock_guard lock(mutex_);
    shelved = shelf_.all();
  }
  for (const auto& [key, kept] : shelved) {
    if (auto status = add(key, kept); !status) return status;
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
                   shelve(entry, *entry.watch, monotonicNow())};
}

}  // namespace pingloom::collector
