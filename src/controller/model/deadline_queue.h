// A queue of reminders: a heap of (due, what). The owner that takes an entry checks what is really
// due, and adds the entry again if that is later. One thread. Bound: the owner keeps at most one
// entry per object.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <queue>
#include <utility>
#include <vector>

#include "common/time.h"

namespace pingloom::controller {

template <typename What>
class DeadlineQueue {
 public:
  void add(Nanos due, What what) { heap_.emplace(due, std::move(what)); }
  Nanos next() const { return heap_.empty() ? kNever : heap_.top().first; }
  // Removes and returns an entry that is due by `now`.
  std::optional<What> take(Nanos now) {
    if (next() > now || heap_.empty()) return std::nullopt;
    What what = heap_.top().second;
    heap_.pop();
    return what;
  }
  void clear() { heap_ = {}; }

 private:
  using Entry = std::pair<Nanos, What>;
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> heap_;
};

}  // namespace pingloom::controller
