// Keeps what is known about applications that have ended, so that it is not learned again when they
// return: after a restart of the application, of its agent or of the collector, or with other
// metrics. One thread. Bounds: kKept for each application of a host, for kKeep; the caller bounds
// the features.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "common/time.h"

namespace pingloom::collector {

// Host, application, and the number of the group among those of its owner's pages.
using ShelfKey = std::tuple<std::string, std::string, std::size_t>;

struct Shelved {
  std::shared_ptr<const std::string> memory;  // as writeMemory() makes it
  std::size_t features = 0;
  std::size_t history_features = 0;  // those for which a history is kept
  Nanos since = 0;                   // when it was watched last
  std::uint64_t owner = 0;           // its number at the agent
};

class WatchShelf {
 public:
  static constexpr std::size_t kKept = 4096;
  static constexpr Nanos kKeep = 24 * kHour;

  void put(const ShelfKey& key, Shelved shelved);
  // Takes the memory of this owner, which is still there after a restart of the collector, or else
  // the one that was put there last; nullptr if there is none.
  std::shared_ptr<const std::string> take(const ShelfKey& key, std::uint64_t owner);
  // Drops those that have not been watched for too long.
  void expire(Nanos now);
  // Drops the oldest one. Returns false if there is none.
  bool dropOldest();
  // Drops those of the applications for which `changed` returns true.
  void forget(const std::function<bool(const std::string&)>& changed);
  // Those of a key are in the order in which they were put.
  std::vector<std::pair<ShelfKey, Shelved>> all() const;

  std::size_t features() const { return features_; }
  std::size_t historyFeatures() const { return history_features_; }

 private:
  Shelved remove(std::deque<Shelved>& kept, const std::deque<Shelved>::iterator& which);

  std::map<ShelfKey, std::deque<Shelved>> kept_;  // none is empty; the oldest is the first
  std::size_t features_ = 0;
  std::size_t history_features_ = 0;
};

}  // namespace pingloom::collector
