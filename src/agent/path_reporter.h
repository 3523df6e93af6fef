// Tells the controller the paths that the transports have traced: each once, and all of them again
// after every registration. The agent's control thread owns it.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "common/address.h"
#include "common/time.h"
#include "common/traced_path.h"
#include "control.pb.h"
#include "probe/path_queue.h"

namespace pingloom::agent {

// Bound: kMax paths. Further ones are not told, until tellAll() forgets old ones.
class PathReporter {
 public:
  static constexpr std::size_t kMax = 100'000;
  // A path that was not traced again for this long is not told again.
  static constexpr Nanos kForgetAfter = 30 * kMinute;
  static constexpr Nanos kPause = 100 * kMillisecond;  // between two reports

  static constexpr Nanos kRetry = kSecond;  // after a report that could not be sent

  // returns false if there is no connection
  using Send = std::function<bool(const wire::PathReport&)>;
  // The queue outlives this.
  PathReporter(probe::PathQueue& queue, Send send) : queue_(queue), send_(std::move(send)) {}

  // Readable when run() has something to do before due().
  int descriptor() const { return queue_.descriptor(); }
  Nanos due() const { return due_; }
  void run(Nanos now_mono);
  // A new connection: the controller may not know any path.
  void tellAll(Nanos now_mono, Nanos now_utc);
  // `heard` is called for each path as it was traced.
  void onPath(std::function<void(const TracedPath&)> heard) { heard_ = std::move(heard); }
  // nullptr: it is not known.
  const TracedPath* find(const std::string& probe, const IpAddress& source,
                         const IpAddress& destination, std::uint32_t path) const {
    const auto found = known_.find({probe, source, destination, path});
    return found == known_.end() ? nullptr : &found->second;
  }
  std::size_t size() const { return known_.size(); }

 private:
  struct Key {
    std::string probe;
    IpAddress source;
    IpAddress destination;
    std::uint32_t path = 0;
    auto operator<=>(const Key&) const = default;
  };

  probe::PathQueue& queue_;
  Send send_;
  std::function<void(const TracedPath&)> heard_ = [](const TracedPath&) {};
  std::map<Key, TracedPath> known_;
  std::set<Key> untold_;
  Nanos due_ = kNever;
};

}  // namespace pingloom::agent
