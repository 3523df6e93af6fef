// Tells which batches were counted, so that each is counted once, although it may be shown before
// it is committed, and arrive again when a commit has failed. BatchMarks cannot tell: it knows only
// what was committed or submitted.
// The control thread. Bound: for each host one id, and kMaxRanges ranges of batches that were shown
// out of order; a batch that would begin another range is counted when it is committed.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "wire/control_protocol.h"

namespace pingloom::controller {

class CountedBatches {
 public:
  static constexpr std::size_t kMaxRanges = 256;

  // Each returns whether the batch is to be counted now. It counts as counted then.
  // A batch that is going to be committed. REQUIRES: batches of a host are taken in order, and
  // again from a failed one on.
  bool take(const std::string& host, wire::BatchId id);
  // A batch that is shown out of order and arrives again.
  bool show(const std::string& host, wire::BatchId id);

 private:
  struct Range {
    wire::BatchId first;
    wire::BatchId last;  // of the same incarnation

    bool contains(wire::BatchId id) const { return first <= id && id <= last; }
  };
  struct Counted {
    wire::BatchId through;      // all batches up to it are counted
    std::vector<Range> beyond;  // ascending and apart

    bool contains(wire::BatchId id) const;
  };
  std::map<std::string, Counted> hosts_;
};

}  // namespace pingloom::controller
