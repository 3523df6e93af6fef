#include "controller/http/grid_writer.h"
#include "controller/http/live_frames.h"

namespace pingloom::controller::api {
namespace {

class CellsGrid : public GridWriter {
 public:
  CellsGrid(const GridPlan& plan, const GridQuery& query) : query_(query) {
    out_ = liveRows({static_cast<std::uint32_t>(plan.generation), 0, 0});
    cells_.resize(plan.probes[query.probe].destinations.size() * kLiveBytesPerCell);
  }

  std::string_view contentType() const override { return "application/octet-stream"; }

  void add(const GridLine& line) override {
    for (std::size_t i = 0; i < line.states.size(); ++i) {
      const auto& state = line.states[i];
      cells_[i] = static_cast<char>(state ? liveCell(*state, line.severityOf(i)) : kLiveNotAPair);
    }
    char* const values = cells_.data() + line.states.size();
    if (line.against == nullptr) {
      liveValues(query_.metric, line.values, values);
    } else {
      for (std::size_t i = 0; i < line.states.size(); ++i) {
        values[i] =
            static_cast<char>(liveDifference(query_.metric, line.values[i], (*line.against)[i]));
      }
    }
    appendLiveRow(out_, query_.probe, source_++, line.endUtc(), cells_);
  }

 private:
  const GridQuery& query_;
  std::string cells_;  // one source's states with severities, then its values
  std::uint32_t source_ = 0;
};

}  // namespace

std::unique_ptr<GridWriter> cellsGrid(const GridPlan& plan, const GridQuery& query) {
  return std::make_unique<CellsGrid>(plan, query);
}

}  // namespace pingloom::controller::api
