#include "controller/control/counted_batches.h"

#include <algorithm>

namespace pingloom::controller {
namespace {

bool follows(wire::BatchId id, wire::BatchId before) {
  return id.incarnation == before.incarnation && id.sequence == before.sequence + 1;
}

}  // namespace

bool CountedBatches::Counted::contains(wire::BatchId id) const {
  if (id <= through) return true;
  const auto after = std::upper_bound(beyond.begin(), beyond.end(), id,
                                      [](wire::BatchId a, const Range& b) { return a < b.first; });
  return after != beyond.begin() && std::prev(after)->contains(id);
}

bool CountedBatches::take(const std::string& host, wire::BatchId id) {
  Counted& counted = hosts_[host];
  const bool fresh = !counted.contains(id);
  counted.through = std::max(counted.through, id);
  std::erase_if(counted.beyond, [&](const Range& range) { return range.last <= counted.through; });
  return fresh;
}

bool CountedBatches::show(const std::string& host, wire::BatchId id) {
  Counted& counted = hosts_[host];
  if (counted.contains(id)) return false;
  auto after = std::upper_bound(counted.beyond.begin(), counted.beyond.end(), id,
                                [](wire::BatchId a, const Range& b) { return a < b.first; });
  const bool joins_before = after != counted.beyond.begin() && follows(id, std::prev(after)->last);
  const bool joins_after = after != counted.beyond.end() && follows(after->first, id);
  if (joins_before && joins_after) {
    std::prev(after)->last = after->last;
    counted.beyond.erase(after);
  } else if (joins_before) {
    std::prev(after)->last = id;
  } else if (joins_after) {
    after->first = id;
  } else if (counted.beyond.size() < kMaxRanges) {
    counted.beyond.insert(after, {id, id});
  } else {
    return false;
  }
  return true;
}

}  // namespace pingloom::controller
