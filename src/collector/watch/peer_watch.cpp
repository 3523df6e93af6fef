#include "collector/watch/peer_watch.h"

#include <algorithm>

namespace pingloom::collector {

void PeerWatch::add(OwnerWatch& watch, std::uint32_t relearn_after) {
  if (!watch.replica().settings().enabled) {
    watch.replica().leave();
    return;
  }
  const Key key{watch.peers(), watch.features(), watch.fingerprint()};
  auto found = replicas_.find(key);
  if (found == replicas_.end()) {
    found = replicas_.emplace(key, Replicas{analytics::PeerGroup(watch.features()), 0, {}}).first;
  }
  found->second.relearn_after = std::max(found->second.relearn_after, relearn_after);
  found->second.members.push_back(&watch.replica());
}

void PeerWatch::judge() {
  std::erase_if(replicas_, [](const auto& entry) { return entry.second.members.empty(); });
  for (auto& [key, replicas] : replicas_) {
    replicas.group.judge(replicas.members, replicas.relearn_after);
    replicas.members.clear();
    replicas.relearn_after = 0;
  }
}

}  // namespace pingloom::collector
