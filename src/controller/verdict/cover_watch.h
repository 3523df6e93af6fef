// Watches which links the flows of the probes that sample cross, and chooses further pairs for
// links that too few of them cross (plan/link_cover.h). It waits until the flows are traced: pairs
// are chosen once no flow of such a probe was traced for the first time, and the plan did not
// change, for kSettle. Then it waits for the traces of the new pairs, and so on. Later it chooses
// again if flows have moved. The fabric's thread owns it; it reads only its arguments.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "common/time.h"
#include "controller/model/board.h"
#include "controller/model/fabric_cover.h"
#include "controller/model/fabric_map.h"

namespace pingloom::controller {

class CoverWatch {
 public:
  static constexpr Nanos kSettle = 20 * kSecond;
  // When flows have moved, pairs are chosen again so long after the last time.
  static constexpr Nanos kAgain = 10 * kMinute;
  // A look at a large fabric takes a while.
  static constexpr Nanos kPause = 5 * kSecond;

  struct Seen {
    std::shared_ptr<const FabricCover> cover;  // nullptr: nothing new
    std::vector<CoverPairs> chosen;
  };
  // REQUIRES: `map` was made of `paths`.
  Seen look(const std::shared_ptr<const GridPlan>& plan, const FabricMap& map,
            const KnownPaths& paths, Nanos now_mono);

 private:
  std::uint64_t generation_ = 0;     // the plan's, and
  std::size_t traced_ = 0;           // the number of its known flows
  Nanos since_mono_ = 0;             // since when both are what they are
  bool chose_ = false;               // since then
  Nanos chose_mono_ = 0;             // when pairs were last chosen, and
  std::uint64_t chose_version_ = 0;  // from which map
  std::uint64_t version_ = 0;        // the map's that was looked at
  Nanos looked_mono_ = -kPause;
};

}  // namespace pingloom::controller
