// /api/v1/history/grid: one figure of a whole mesh at a past time, its difference to another time,
// or the worst of a while. The HTTP thread asks, the history reader's thread answers.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "controller/history/history_reader.h"
#include "controller/history/past_presence.h"
#include "controller/history/past_severities.h"
#include "controller/history/past_source.h"
#include "controller/http/grid_writer.h"

namespace pingloom::controller::api {

// Reads one source after the other. The history's thread.
class PastGrid {
 public:
  PastGrid(const ProbeGrid& grid, const GridQuery& query, Nanos at_utc);  // both outlive it

  // Reads what concerns all sources.
  Status begin(History& history);
  // Goes on with a history that may have been opened anew since begin().
  Status resume(History& history);
  // The line is valid until the next call.
  Result<const GridLine*> line(History& history, std::size_t source);

  std::uint64_t damaged() const { return past_.damaged(); }

 private:
  // A grid of the worst figures reads at most so many windows besides those of its time.
  static constexpr std::size_t kMaxWindows = 4000;

  Status readAgainst(History& history, const IpAddress& source);
  Status readWorst(History& history, const IpAddress& source, Nanos until_utc);

  const ProbeGrid& grid_;
  const GridQuery& query_;
  const Nanos at_utc_;
  PastPresence presence_;
  std::optional<PastSeverities> severities_;
  PastSource past_;
  GridLine line_;
  std::vector<Judged> judged_;
  // The values of another window, which are subtracted or compared.
  std::vector<MetricValue> other_;
  std::vector<PastSeverities::Rise> rises_;
  std::size_t windows_left_ = kMaxWindows;
};

http::Answer pastGrid(const std::shared_ptr<const GridPlan>& plan, HistoryReader& reader,
                      const http::Request& request);

}  // namespace pingloom::controller::api
