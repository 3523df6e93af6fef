#include "collector/watch/watch_shelf.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace pingloom::collector {

void WatchShelf::put(const ShelfKey& key, Shelved shelved) {
  std::deque<Shelved>& kept = kept_[key];
  if (kept.size() == kKept) remove(kept, kept.begin());
  features_ += shelved.features;
  history_features_ += shelved.history_features;
  kept.push_back(std::move(shelved));
}

std::shared_ptr<const std::string> WatchShelf::take(const ShelfKey& key, std::uint64_t owner) {
  const auto found = kept_.find(key);
  if (found == kept_.end()) return nullptr;
  std::deque<Shelved>& kept = found->second;
  const auto same = std::find_if(kept.rbegin(), kept.rend(),
                                 [owner](const Shelved& one) { return one.owner == owner; });
  auto memory = remove(kept, same == kept.rend() ? std::prev(kept.end()) : std::prev(same.base()));
  if (kept.empty()) kept_.erase(found);
  return memory.memory;
}

Shelved WatchShelf::remove(std::deque<Shelved>& kept, const std::deque<Shelved>::iterator& which) {
  Shelved removed = std::move(*which);
  kept.erase(which);
  features_ -= removed.features;
  history_features_ -= removed.history_features;
  return removed;
}

std::vector<std::pair<ShelfKey, Shelved>> WatchShelf::all() const {
  std::vector<std::pair<ShelfKey, Shelved>> found;
  for (const auto& [key, kept] : kept_) {
    for (const Shelved& shelved : kept) found.emplace_back(key, shelved);
  }
  return found;
}

void WatchShelf::expire(Nanos now) {
  for (auto& [key, kept] : kept_) {
    while (!kept.empty() && now - kept.front().since >= kKeep) remove(kept, kept.begin());
  }
  std::erase_if(kept_, [](const auto& entry) { return entry.second.empty(); });
}

bool WatchShelf::dropOldest() {
  const auto oldest = std::min_element(
      kept_.begin(), kept_.end(),
      [](const auto& a, const auto& b) { return a.second.front().since < b.second.front().since; });
  if (oldest == kept_.end()) return false;
  remove(oldest->second, oldest->second.begin());
  if (oldest->second.empty()) kept_.erase(oldest);
  return true;
}

void WatchShelf::forget(const std::function<bool(const std::string&)>& changed) {
  for (auto& [key, kept] : kept_) {
    while (changed(std::get<1>(key)) && !kept.empty()) remove(kept, kept.begin());
  }
  std::erase_if(kept_, [](const auto& entry) { return entry.second.empty(); });
}

}  // namespace pingloom::collector
