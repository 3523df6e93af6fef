#include "controller/model/path_board.h"

#include <algorithm>
#include <utility>

namespace pingloom::controller {
namespace {

bool mayBeSame(const PathHop& a, const PathHop& b) {
  return !a.isKnown() || !b.isKnown() || a.router == b.router;
}

// Whether the hops of `shorter` may be the first ones of `longer`.
bool begins(const std::vector<PathHop>& shorter, const std::vector<PathHop>& longer) {
  return shorter.size() <= longer.size() &&
         std::equal(shorter.begin(), shorter.end(), longer.begin(), mayBeSame);
}

bool isSame(const TracedPath& a, const TracedPath& b) {
  return a.end == b.end && a.hops.size() == b.hops.size() && begins(a.hops, b.hops);
}

// The newer trace of the same path, with the routers that answered to the older one only.
TracedPath merged(TracedPath newer, const TracedPath& older) {
  for (std::size_t i = 0; i < newer.hops.size(); ++i) {
    if (!newer.hops[i].isKnown()) newer.hops[i] = older.hops[i];
  }
  return newer;
}

bool hasOtherRouters(const TracedPath& a, const TracedPath& b) {
  return !std::equal(a.hops.begin(), a.hops.end(), b.hops.begin(), b.hops.end(),
                     [](const PathHop& x, const PathHop& y) { return x.router == y.router; });
}

// What is known when the flow takes another path than before, or another connection was traced.
KnownPath replacedBy(TracedPath&& traced, const KnownPath& was) {
  KnownPath made;
  made.since_utc = traced.traced;
  made.changes = was.changes;
  made.before.push_back(was.path);
  for (const TracedPath& earlier : was.before) {
    if (made.before.size() < KnownPath::kMaxBefore) made.before.push_back(earlier);
  }
  made.path = std::move(traced);
  return made;
}

}  // namespace

PathBoard::Taken PathBoard::take(TracedPath&& traced, bool elsewhere) {
  Key key{traced.probe, traced.source, traced.destination, traced.path};
  const std::lock_guard lock(mutex_);
  const auto found = known_.find(key);
  if (found == known_.end()) {
    if (known_.size() >= kMax) {
      ++left_;
      return {};
    }
    KnownPath made;
    made.since_utc = traced.traced;
    made.path = std::move(traced);
    made.elsewhere = elsewhere;
    ++version_;
    const auto known = std::make_shared<const KnownPath>(std::move(made));
    known_.emplace(std::move(key), known);
    return {known, false};
  }
  const KnownPath& was = *found->second;
  // An agent tells everything again after a registration.
  const Nanos newest = was.broken ? was.broken->traced : was.path.traced;
  if (traced.traced <= newest) return {};
  KnownPath made;
  const bool stops = traced.end != PathEnd::kReached && was.path.end == PathEnd::kReached;
  bool changed = false;
  if (traced.source_port != was.path.source_port) {
    made = replacedBy(std::move(traced), was);
    // Connections take many paths, so in a TCP mesh there are always others.
    const bool noted = made.since_utc - connections_noted_ < kNoteConnections;
    if (!noted && hasOtherRouters(made.path, was.path)) {
      connections_noted_ = made.since_utc;
      ++version_;
    }
  } else if (isSame(traced, was.path)) {
    made = was;
    made.broken.reset();
    made.path = merged(std::move(traced), was.path);
    if (hasOtherRouters(made.path, was.path)) ++version_;
  } else if (stops && begins(traced.hops, was.path.hops)) {
    made = was;
    made.broken = std::move(traced);
  } else {
    made = replacedBy(std::move(traced), was);
    ++made.changes;
    changed = true;
    ++version_;
  }
  made.elsewhere = elsewhere;
  found->second = std::make_shared<const KnownPath>(std::move(made));
  return {found->second, changed};
}

void PathBoard::forget(Nanos now_utc) {
  const std::lock_guard lock(mutex_);
  const std::size_t gone = std::erase_if(known_, [&](const auto& entry) {
    const KnownPath& known = *entry.second;
    const Nanos newest = known.broken ? known.broken->traced : known.path.traced;
    return now_utc - newest > kForgetAfter;
  });
  if (gone > 0) ++version_;
}

KnownPaths PathBoard::ofPair(std::string_view probe, const IpAddress& source,
                             const IpAddress& destination) const {
  const Key first{std::string(probe), source, destination, 0};
  KnownPaths made;
  const std::lock_guard lock(mutex_);
  for (auto at = known_.lower_bound(first); at != known_.end(); ++at) {
    const Key& key = at->first;
    if (key.probe != first.probe || key.source != source || key.destination != destination) break;
    made.push_back(at->second);
  }
  return made;
}

KnownPaths PathBoard::all() const {
  KnownPaths made;
  const std::lock_guard lock(mutex_);
  made.reserve(known_.size());
  for (const auto& [key, known] : known_) made.push_back(known);
  return made;
}

std::uint64_t PathBoard::version() const {
  const std::lock_guard lock(mutex_);
  return version_;
}

std::uint64_t PathBoard::left() const {
  const std::lock_guard lock(mutex_);
  return left_;
}

std::size_t PathBoard::size() const {
  const std::lock_guard lock(mutex_);
  return known_.size();
}

}  // namespace pingloom::controller
