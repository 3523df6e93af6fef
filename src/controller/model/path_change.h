// Changes of the paths of flows, as the history keeps them. When a link goes down, thousands of
// flows move at once, so the changes of about a second become few records: a source's first few
// flows have one each, and further flows are folded into one record for each source, or for all
// sources of a probe (docs/paths.md). The control thread owns a batch.
//
// Bounds: kMaxSources sources with kMaxSingle changes each are kept individually; on average
// kRecordsPerSecond records plus one for each probe.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "common/address.h"
#include "common/time.h"
#include "controller/model/path_board.h"

namespace pingloom::controller {

// Flows of a probe that take another path than before; one of them is the example.
struct PathChange {
  Nanos utc = 0;  // when the controller learned of the first
  std::string probe;
  std::uint64_t flows = 1;
  std::optional<IpAddress> of;  // the source of all of them; nullopt stands for several
  IpAddress source;             // of the example, as is all below
  IpAddress destination;
  std::uint32_t path = 0;
  std::uint32_t hop = 0;  // the first that differs; the router next to the source is 1
  // The routers, separated by blanks; `*` did not answer. At most kMaxPathHops of them.
  std::string before;
  std::string after;

  bool operator==(const PathChange&) const = default;
};

// REQUIRES: known.before is not empty.
PathChange changeOf(const KnownPath& known, Nanos now_utc);

// The routers of a path in a PathChange. Text that is no address is unspecified.
std::vector<IpAddress> routersIn(std::string_view text);

class PathChangeBatch {
 public:
  static constexpr std::size_t kMaxSingle = 4;
  static constexpr std::size_t kMaxSources = 4096;
  static constexpr double kRecordsPerSecond = 10;
  static constexpr double kMaxBurst = 1000;  // records

  void add(PathChange change);
  bool empty() const { return sources_.empty(); }
  // Returns everything added since the last call, ordered by time.
  std::vector<PathChange> take(Nanos now_utc);
  // Changes that have no record of their own.
  std::uint64_t folded() const { return folded_; }

 private:
  // The first changes, and the number of all.
  struct Group {
    std::vector<PathChange> first;
    std::uint64_t flows = 0;
  };
  using Key = std::pair<std::string, std::optional<IpAddress>>;  // probe; nullopt: the others

  PathChange fold(const Group& group, const std::optional<IpAddress>& of);

  std::map<Key, Group> sources_;
  double allowance_ = kMaxBurst;
  Nanos allowed_utc_ = 0;
  std::uint64_t folded_ = 0;
};

}  // namespace pingloom::controller
