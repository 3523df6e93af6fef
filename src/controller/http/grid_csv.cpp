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

class PresentCsv : public http::BodyStream {
 public:
  PresentCsv(const Board& board, std::shared_ptr<const GridPlan> plan, GridQuery query)
      : board_(board), lines_(std::move(plan), std::move(query)) {}

  void next(Take take) override {
    std::string piece;
    if (next_ == 0) lines_.appendHead(piece);
    const ProbeGrid& grid = lines_.grid();
    for (; next_ < grid.sources.size() && piece.size() < kCsvPieceBytes; ++next_) {
      if (board_.plan()->generation != lines_.plan().generation) return take(std::nullopt);
      const auto snapshot = board_.source(lines_.query().probe, static_cast<std::uint32_t>(next_),
                                          lines_.plan().generation);
      fillLine(grid, lines_.query().metric, next_, snapshot.get(), line_);
      lines_.append(next_, line_, piece);
    }
    take(std::move(piece));
  }

 private:
  const Board& board_;
  const CsvLines lines_;
  GridLine line_;
  std::size_t next_ = 0;  // source
};

}  // namespace

CsvLines::CsvLines(std::shared_ptr<const GridPlan> plan, GridQuery query)
    : plan_(std::move(plan)),
      query_(std::move(query)),
      sources_(placesOf(grid().sources, *plan_)),
      destinations_(placesOf(grid().destinations, *plan_)) {}

void CsvLines::appendHead(std::string& out) const {
  out += "source,source_name,destination,destination_name,state,";
  out.append(query_.metric_name).append("_").append(query_.metric.unit());
  out += ",severity,window_end\r\n";
}

void CsvLines::append(std::size_t source, const GridLine& line, std::string& out) const {
  std::string end = ",";
  if (const auto utc = line.endUtc()) end += formatUtc(*utc);
  end += "\r\n";
  std::array<char, Metric::kMaxDigits> digits;
  for (std::size_t i = 0; i < destinations_.size(); ++i) {
    const auto& state = line.states[i];
    if (!state) continue;
    out.append(sources_[source]).append(destinations_[i]).append(name(*state));
    out += ',';
    out.append(digits.data(), writeValue(digits.data(), query_.metric, line, i));
    out += ',';
    out.append(name(line.severityOf(i))).append(end);
  }
}

http::Response csvAnswer(std::shared_ptr<http::BodyStream> stream) {
  http::Response response;
  response.content_type = kCsvType;
  response.stream = std::move(stream);
  return response;
}

http::Response csvOf(const Board& board, std::shared_ptr<const GridPlan> plan, GridQuery query) {
  return csvAnswer(std::make_shared<PresentCsv>(board, std::move(plan), std::move(query)));
}

}  // namespace pingloom::controller::api
