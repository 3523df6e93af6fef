// Reads what was judged of the pairs of a source at a past time, in the thread of its History.
// Nothing is judged anew: where the history has no record, the severity is none.
#pragma once

#include <string_view>
#include <utility>
#include <vector>

#include "common/address.h"
#include "common/error.h"
#include "common/time.h"
#include "controller/history/sql/database.h"
#include "controller/model/board.h"
#include "controller/model/severity_record.h"

namespace pingloom::controller {

class PastSeverities {
 public:
  // Only the newest records of a longer past are read; before them nothing is known.
  static constexpr std::int64_t kMaxRecords = 200'000;

  // The database outlives the object.
  static Result<PastSeverities> open(Database& database);

  // Fills `out` with the worst severity that was in force in [from, until) for each destination of
  // the grid; `states` are those of the same time.
  Status read(const ProbeGrid& grid, const IpAddress& source, Nanos from_utc, Nanos until_utc,
              const States& states, std::vector<Judged>& out);

  // Does the same, whatever the states were. `rises`, unless nullptr, receives when pairs of the
  // source became slow or worse, or worse than before: the highest severity first, then the newest.
  struct Rise {
    Nanos utc = 0;  // in [from, until)
    Severity to = Severity::kNone;
  };
  Status worst(const ProbeGrid& grid, const IpAddress& source, Nanos from_utc, Nanos until_utc,
               std::vector<Judged>& out, std::vector<Rise>* rises = nullptr);

  // The severities of one pair: each holds from its time on.
  using Timeline = std::vector<std::pair<Nanos, Severity>>;
  Result<Timeline> timeline(std::string_view probe, const IpAddress& source,
                            const IpAddress& destination, Nanos from_utc, Nanos until_utc);

 private:
  PastSeverities() = default;
  // Calls `visit(since_utc, severities)` for what was in force in [from, until), the newest first.
  template <typename Visit>
  Status each(std::string_view probe, const IpAddress& source, Nanos from_utc, Nanos until_utc,
              Visit visit);

  Statement between_;
};

// The worst severity of the timeline in [from, until), for a pair that had this state then.
Severity worstIn(const PastSeverities::Timeline& timeline, Nanos from_utc, Nanos until_utc,
                 PairState state);

}  // namespace pingloom::controller
