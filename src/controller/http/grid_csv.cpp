#include "controller/http/grid_csv.h"

#include <array>
#include <utility>

#include "controller/http/csv.h"

namespace pingloom::controller::api {
namespace {

// Returns "ADDRESS,NAME," of each host, made once and used for all of its pairs.
std::vector<std::string> placesOf(const plan::AddressList& list, const GridPlan& plan) {
  std::vector<std::string> places;
  places.reserve(list.size());
  for (const IpAddress& address : list) {
    std::string& place = places.emplace_back(address.text() + ',');
    appendCsvField(place, plan.nameOf(address));
    place += ',';
  }
  return places;
}

class CsvGrid : public GridWriter {
 public:
  CsvGrid(const GridPlan& plan, const GridQuery& query)
      : query_(query),
        sources_(placesOf(plan.probes[query.probe].sources, plan)),
        destinations_(placesOf(plan.probes[query.probe].destinations, plan)) {
    out_ = "source,source_name,destination,destination_name,state,";
    out_.append(query_.metric_name).append("_").append(query_.metric.unit());
    out_ += ",severity,window_end\r\n";
  }

  std::string_view contentType() const override { return kCsvType; }

  void add(const GridLine& line) override {
    std::string end = ",";
    if (const auto utc = line.endUtc()) end += formatUtc(*utc);
    end += "\r\n";
    std::array<char, Metric::kMaxDigits> digits;
    for (std::size_t i = 0; i < destinations_.size(); ++i) {
      const auto& state = line.states[i];
      if (!state) continue;
      out_.append(sources_[source_]).append(destinations_[i]).append(name(*state));
      out_ += ',';
      out_.append(digits.data(), writeValue(digits.data(), query_.metric, line, i));
      out_ += ',';
      out_.append(name(line.severityOf(i))).append(end);
    }
    ++source_;
  }

 private:
  const GridQuery& query_;
  std::vector<std::string> sources_;  // each as the beginning of its lines
  std::vector<std::string> destinations_;
  std::size_t source_ = 0;  // the next one
};

class PresentCsv : public http::BodyStream {
 public:
  PresentCsv(const Board& board, std::shared_ptr<const GridPlan> plan, GridQuery query)
      : board_(board), plan_(std::move(plan)), query_(std::move(query)), writer_(*plan_, query_) {}

  void next(Take take) override {
    const ProbeGrid& grid = plan_->probes[query_.probe];
    for (; next_ < grid.sources.size() && writer_.text().size() < kCsvPieceBytes; ++next_) {
      if (board_.plan()->generation != plan_->generation) return take(std::nullopt);
      const auto snapshot =
          board_.source(query_.probe, static_cast<std::uint32_t>(next_), plan_->generation);
      fillLine(grid, query_.metric, next_, snapshot.get(), line_);
      writer_.add(line_);
    }
    take(std::exchange(writer_.text(), {}));
  }

 private:
  const Board& board_;
  const std::shared_ptr<const GridPlan> plan_;
  const GridQuery query_;
  CsvGrid writer_;
  GridLine line_;
  std::size_t next_ = 0;  // source
};

}  // namespace

std::unique_ptr<GridWriter> csvGrid(const GridPlan& plan, const GridQuery& query) {
  return std::make_unique<CsvGrid>(plan, query);
}

http::Response csvOf(const Board& board, std::shared_ptr<const GridPlan> plan, GridQuery query) {
  http::Response response;
  response.content_type = kCsvType;
  response.stream = std::make_shared<PresentCsv>(board, std::move(plan), std::move(query));
  return response;
}

}  // namespace pingloom::controller::api
