#include "controller/http/metric.h"

#include <fmt/format.h>

#include <array>
#include <iterator>
#include <numeric>
#include <utility>

#include "common/text.h"
#include "http/json_text.h"

namespace pingloom::controller {
namespace {

constexpr std::array<std::pair<std::string_view, Summary Row::*>, 4> kParts = {{
    {"network", &Row::network},
    {"responder", &Row::responder},
    {"prober", &Row::prober},
    {"rtt", &Row::rtt},
}};
constexpr std::array<std::pair<std::string_view, std::uint64_t Summary::*>, 6> kStatistics = {{
    {"min", &Summary::min},
    {"mean", &Summary::mean},
    {"p50", &Summary::p50},
    {"p95", &Summary::p95},
    {"p99", &Summary::p99},
    {"max", &Summary::max},
}};

}  // namespace

std::vector<std::string> Metric::names() {
  std::vector<std::string> names;
  for (const auto& part : kParts) {
    for (const auto& statistic : kStatistics) {
      names.push_back(std::string(part.first) + "_" + std::string(statistic.first));
    }
  }
  names.insert(names.end(), {"jitter", "loss", "anomalous"});
  return names;
}

Result<Metric> Metric::parse(std::string_view name) {
  Metric metric;
  if (name == "jitter") metric.kind_ = Kind::kJitter;
  if (name == "loss") metric.kind_ = Kind::kLoss;
  if (name == "anomalous") metric.kind_ = Kind::kAnomalous;
  if (metric.kind_ != Kind::kSummary) return metric;
  const std::size_t underscore = std::min(name.find('_'), name.size());
  const std::string_view statistic_name = name.substr(std::min(underscore + 1, name.size()));
  for (const auto& part : kParts) {
    for (const auto& statistic : kStatistics) {
      if (part.first == name.substr(0, underscore) && statistic.first == statistic_name) {
        metric.part_ = part.second;
        metric.statistic_ = statistic.second;
        return metric;
      }
    }
  }
  const auto known = names();
  return makeError("metric '" + std::string(name) + "'",
                   "unknown" + didYouMean(name, {known.begin(), known.end()}) + "; known are " +
                       join(known, ", "));
}

std::string_view Metric::unit() const { return isRatio() ? "ratio" : "ns"; }

std::optional<double> Metric::ratioOf(const Row& row) const {
  const bool loss = kind_ == Kind::kLoss;
  const std::uint32_t whole = loss ? row.sent : row.received;
  if (whole == 0) return std::nullopt;
  const std::uint64_t part =
      loss ? row.lost
           : std::accumulate(row.anomalous.begin(), row.anomalous.end(), std::uint64_t{0});
  return static_cast<double>(part) / whole;
}

std::optional<std::uint64_t> Metric::nanosecondsOf(const Row& row) const {
  if (kind_ == Kind::kJitter) return row.jitter_ns;
  const Summary& summary = row.*part_;
  if (summary.count == 0) return std::nullopt;
  return summary.*statistic_;
}

std::optional<double> Metric::valueOf(const Row* row) const {
  if (row == nullptr) return std::nullopt;
  if (isRatio()) return ratioOf(*row);
  const auto nanoseconds = nanosecondsOf(*row);
  if (!nanoseconds) return std::nullopt;
  return static_cast<double>(*nanoseconds);
}

bool Metric::append(std::string& out, const Row* row) const {
  if (row == nullptr) return false;
  if (isRatio()) {
    const auto ratio = ratioOf(*row);
    if (ratio) fmt::format_to(std::back_inserter(out), "{:.6g}", *ratio);
    return ratio.has_value();
  }
  const auto nanoseconds = nanosecondsOf(*row);
  if (nanoseconds) http::appendJsonNumber(out, *nanoseconds);
  return nanoseconds.has_value();
}

}  // namespace pingloom::controller
