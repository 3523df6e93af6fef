// A whole mesh as CSV, sent while it is made: for the present here, for the past in past_grid.h. A
// piece is at least one source's lines, and at most kCsvPieceBytes more than those.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "controller/http/grid_writer.h"

namespace pingloom::controller::api {

constexpr std::size_t kCsvPieceBytes = 64 * 1024;

// Makes the lines, one for each pair. Any thread, one at a time.
class CsvLines {
 public:
  CsvLines(std::shared_ptr<const GridPlan> plan, GridQuery query);

  const GridPlan& plan() const { return *plan_; }
  const ProbeGrid& grid() const { return plan_->probes[query_.probe]; }
  const GridQuery& query() const { return query_; }
  void appendHead(std::string& out) const;
  void append(std::size_t source, const GridLine& line, std::string& out) const;

 private:
  const std::shared_ptr<const GridPlan> plan_;
  const GridQuery query_;
  std::vector<std::string> sources_;  // each as the beginning of its lines
  std::vector<std::string> destinations_;
};

// Each source's lines are as new as the moment at which they are sent, so that a slow reader keeps
// no old rows in memory. A new plan ends the answer. The board outlives it.
http::Response csvOf(const Board& board, std::shared_ptr<const GridPlan> plan, GridQuery query);

http::Response csvAnswer(std::shared_ptr<http::BodyStream> stream);

}  // namespace pingloom::controller::api
