// Keeps what is known about applications that have ended, so that it is not learned again when they
// return: after a restart of the application or of its agent, or with other metrics. One thread.
// Bounds: kKept for each application of a host, for kKeep; the caller bounds the features.
#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <tuple>

#include "collector/watch/owner_watch.h"
#include "common/time.h"

namespace pingloom::collector {

// Host, application, and the number of the group among those of its owner's pages.
using ShelfKey = std::tuple<std::string, std::string, std::size_t>;

class WatchShelf {
 public:
  static constexpr std::size_t kKept = 64;
  static constexpr Nanos kKeep = 24 * kHour;

  void put(const ShelfKey& key, std::unique_ptr<OwnerWatch> watch, Nanos now);
  // Takes the one that was put there last; nullptr if there is none.
  std::unique_ptr<OwnerWatch> take(const ShelfKey& key);
  // Drops those that have been there for too long.
  void expire(Nanos now);
  // Drops the oldest one. Returns false if there is none.
  bool dropOldest();
  // Drops those of the applications for which `changed` returns true.
  void forget(const std::function<bool(const std::string&)>& changed);

  std::size_t features() const { return features_; }
  std::size_t historyFeatures() const { return history_features_; }

 private:
  struct Kept {
    std::unique_ptr<OwnerWatch> watch;
    Nanos since = 0;
  };
  std::unique_ptr<OwnerWatch> remove(std::deque<Kept>& kept, bool newest);

  std::map<ShelfKey, std::deque<Kept>> kept_;  // none is empty; the oldest is the first
  std::size_t features_ = 0;
  std::size_t history_features_ = 0;
};

}  // namespace pingloom::collector
