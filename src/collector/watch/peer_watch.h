// Finds replicas among the watched groups of pages and compares them: groups of one application, or
// with one value of the label `peers: { label: ... }`, whose pages have the same features. One
// thread; memory is a PeerGroup for each such set.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "collector/analytics/peer_group.h"
#include "collector/watch/owner_watch.h"

namespace pingloom::collector {

class PeerWatch {
 public:
  // Adds a group to this round's comparison, unless its settings say that it is not compared. It
  // outlives judge(). `relearn_after` is the setting
  // of its application; the longest one of all replicas holds.
  void add(OwnerWatch& watch, std::uint32_t relearn_after);
  // Compares the groups that were added since the last call. Replicas of which there are none any
  // more are forgotten.
  void judge();

 private:
  // OwnerWatch::peers(), the number of its features and their fingerprint.
  using Key = std::tuple<std::string, std::size_t, std::size_t>;
  struct Replicas {
    analytics::PeerGroup group;
    std::uint32_t relearn_after = 0;
    std::vector<analytics::Replica*> members;  // of this round
  };
  std::map<Key, Replicas> replicas_;
};

}  // namespace pingloom::collector
