#include "controller/http/metric.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "common/text.h"

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

MetricValue Metric::ratioIn(const PairCounts& counts) const {
  return kind_ == Kind::kLoss ? MetricValue{counts.lost, counts.sent}
                              : MetricValue{counts.anomalous, counts.received};
}

std::optional<std::uint64_t> Metric::nanosecondsOf(const PackedRow& row) const {
  if (kind_ == Kind::kJitter) return row.jitter();
  const auto part = std::find(kRowParts.begin(), kRowParts.end(), part_) - kRowParts.begin();
  const Summary summary = row.part(static_cast<RowPart>(part));
  if (summary.count == 0) return std::nullopt;
  return summary.*statistic_;
}

PastFigure Metric::pastFigure() const {
  if (kind_ == Kind::kSummary) return {part_, statistic_, false};
  return {nullptr, nullptr, kind_ == Kind::kJitter};
}

MetricValue Metric::of(const PackedRow& row) const {
  if (!row.hasWindow()) return {};
  if (isRatio()) return ratioIn(countsOf(row));
  const auto nanoseconds = nanosecondsOf(row);
  return nanoseconds ? MetricValue{*nanoseconds, 1} : MetricValue{};
}

void Metric::of(const PastWindow& window, std::vector<MetricValue>& out) const {
  const std::uint64_t* const figures = window.figures.data();
  out.resize(window.figures.size());
  MetricValue* const values = out.data();
  std::size_t from = 0;
  for (const auto& [counts, end] : window.counts) {
    if (counts.sent == 0) {
      std::fill(values + from, values + end, MetricValue());
    } else if (isRatio()) {
      std::fill(values + from, values + end, ratioIn(counts));
    } else {
      for (std::size_t i = from; i < end; ++i) {
        values[i] = figures[i] != kNoFigure ? MetricValue{figures[i], 1} : MetricValue();
      }
    }
    from = end;
  }
}

char* Metric::writeRatio(char* out, const MetricValue& value) {
  if (value.part == 0) {  // the most frequent value
    *out = '0';
    return out + 1;
  }
  return fmt::format_to(out, "{:.6g}", value.number());
}

}  // namespace pingloom::controller
