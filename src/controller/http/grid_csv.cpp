#include <array>

#include "controller/http/csv.h"
#include "controller/http/grid_writer.h"

namespace pingloom::controller::api {
namespace {

// The usual length of a line's end: state, value, severity and separators.
constexpr std::uint64_t kUsualRest = 16;

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

std::uint64_t bytesOf(const std::vector<std::string>& places) {
  std::uint64_t bytes = 0;
  for (const std::string& place : places) bytes += place.size();
  return bytes;
}

std::uint64_t bytesOf(const std::vector<std::string>& sources,
                      const std::vector<std::string>& destinations) {
  return bytesOf(sources) * destinations.size() + bytesOf(destinations) * sources.size() +
         kUsualRest * sources.size() * destinations.size();
}

class CsvGrid : public GridWriter {
 public:
  CsvGrid(const GridPlan& plan, const GridQuery& query)
      : query_(query),
        sources_(placesOf(plan.probes[query.probe].sources, plan)),
        destinations_(placesOf(plan.probes[query.probe].destinations, plan)) {
    out_ = "source,source_name,destination,destination_name,state,";
    out_.append(query.metric_name).append("_").append(query.metric.unit());
    out_ += ",severity\r\n";
    out_.reserve(out_.size() + bytesOf(sources_, destinations_));
  }

  void add(const GridLine& line) override {
    const std::string& source = sources_[source_++];
    std::array<char, Metric::kMaxDigits> digits;
    for (std::size_t i = 0; i < destinations_.size(); ++i) {
      const auto& state = line.states[i];
      if (!state) continue;
      out_.append(source).append(destinations_[i]).append(name(*state));
      out_ += ',';
      const MetricValue& value = line.values[i];
      if (value.measured()) out_.append(digits.data(), query_.metric.write(digits.data(), value));
      out_ += ',';
      if (line.live) out_ += name(line.severityOf(i));
      out_ += "\r\n";
    }
  }

  http::Response finish() override {
    http::Response response;
    response.content_type = kCsvType;
    response.body = std::move(out_);
    return response;
  }

 private:
  const GridQuery& query_;
  const std::vector<std::string> sources_;
  const std::vector<std::string> destinations_;
  std::string out_;
  std::size_t source_ = 0;
};

}  // namespace

std::uint64_t csvGridBytes(const GridPlan& plan, const ProbeGrid& grid) {
  return bytesOf(placesOf(grid.sources, plan), placesOf(grid.destinations, plan));
}

std::unique_ptr<GridWriter> csvGrid(const GridPlan& plan, const GridQuery& query) {
  return std::make_unique<CsvGrid>(plan, query);
}

}  // namespace pingloom::controller::api
