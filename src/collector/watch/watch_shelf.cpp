#include "collector/watch/watch_shelf.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace pingloom::collector {

void WatchShelf::put(const ShelfKey& key, std::unique_ptr<OwnerWatch> watch, Nanos now) {
  std::deque<Kept>& kept = kept_[key];
  if (kept.size() == kKept) remove(kept, false);
  features_ += watch->features();
  history_features_ += watch->historyFeatures();
  kept.push_back({std::move(watch), now});
}

std::unique_ptr<OwnerWatch> WatchShelf::take(const ShelfKey& key) {
  const auto found = kept_.find(key);
  if (found == kept_.end()) return nullptr;
  auto watch = remove(found->second, true);
  if (found->second.empty()) kept_.erase(found);
  return watch;
}

std::unique_ptr<OwnerWatch> WatchShelf::remove(std::deque<Kept>& kept, bool newest) {
  auto watch = std::move(newest ? kept.back().watch : kept.front().watch);
  if (newest) {
    kept.pop_back();
  } else {
    kept.pop_front();
  }
  features_ -= watch->features();
  history_features_ -= watch->historyFeatures();
  return watch;
}

void WatchShelf::expire(Nanos now) {
  for (auto& [key, kept] : kept_) {
    while (!kept.empty() && now - kept.front().since >= kKeep) remove(kept, false);
  }
  std::erase_if(kept_, [](const auto& entry) { return entry.second.empty(); });
}

bool WatchShelf::dropOldest() {
  const auto oldest = std::min_element(
      kept_.begin(), kept_.end(),
      [](const auto& a, const auto& b) { return a.second.front().since < b.second.front().since; });
  if (oldest == kept_.end()) return false;
  remove(oldest->second, false);
  if (oldest->second.empty()) kept_.erase(oldest);
  return true;
}

void WatchShelf::forget(const std::function<bool(const std::string&)>& changed) {
  for (auto& [key, kept] : kept_) {
    while (changed(std::get<1>(key)) && !kept.empty()) remove(kept, false);
  }
  std::erase_if(kept_, [](const auto& entry) { return entry.second.empty(); });
}

}  // namespace pingloom::collector
