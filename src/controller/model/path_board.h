// The newest known path of every flow (docs/paths.md). The control thread calls take() and
// forget(), and any thread reads; a known path never changes after it was published.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/address.h"
#include "common/time.h"
#include "common/traced_path.h"

namespace pingloom::controller {

// What is known of one flow's path.
struct KnownPath {
  static constexpr std::size_t kMaxBefore = 8;

  // The newest trace. A hop that did not answer this time keeps the router that the trace before
  // had found there, if the rest of the path is the same.
  TracedPath path;
  // A newer trace that ended before the destination, on the way that `path` takes.
  std::optional<TracedPath> broken;
  Nanos since_utc = 0;        // since when the path is this one
  std::uint64_t changes = 0;  // to another path, since the controller's start
  // Earlier paths, the newest first. Of TCP pairs, those of earlier connections: they had other
  // ports, so a different path is no change.
  std::vector<TracedPath> before;
  bool elsewhere = false;  // its agent has told the newest trace to another controller
};

using KnownPaths = std::vector<std::shared_ptr<const KnownPath>>;

// Bound: kMax flows; further ones are counted and not kept.
class PathBoard {
 public:
  static constexpr std::size_t kMax = 1'000'000;
  static constexpr Nanos kForgetAfter = 30 * kMinute;  // without a trace
  static constexpr Nanos kNoteConnections = kMinute;

  struct Taken {
    std::shared_ptr<const KnownPath> known;  // nullptr: not kept, or older than what is known
    bool changed = false;                    // whether the flow takes another path than before
  };
  // `elsewhere`: the agent is registered with another controller, which has told the trace.
  Taken take(TracedPath&& traced, bool elsewhere = false);
  // Drops the paths that were not traced since kForgetAfter before `now_utc`.
  void forget(Nanos now_utc);

  // The paths of a pair, ordered by their number.
  KnownPaths ofPair(std::string_view probe, const IpAddress& source,
                    const IpAddress& destination) const;
  KnownPaths all() const;
  // Grows whenever all() has other routers than before, but at most once in kNoteConnections if
  // only other connections were traced.
  std::uint64_t version() const;
  std::uint64_t left() const;  // paths that found no room
  std::size_t size() const;

 private:
  struct Key {
    std::string probe;
    IpAddress source;
    IpAddress destination;
    std::uint32_t path = 0;
    auto operator<=>(const Key&) const = default;
  };

  mutable std::mutex mutex_;
  std::map<Key, std::shared_ptr<const KnownPath>> known_;
  std::uint64_t version_ = 0;
  Nanos connections_noted_ = 0;  // UTC
  std::uint64_t left_ = 0;
};

}  // namespace pingloom::controller
