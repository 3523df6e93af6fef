// Copies metrics that another library counts into metric pages, round by round. The bridges from
// prometheus-cpp and OpenTelemetry use it. C++17.
//
// The sum of a histogram is kept in steps of 1e-9 in names with `_seconds`, of 1 in names with
// `_bytes`, and of 1e-6 otherwise, and saturates at 2^64 of them. Other values are doubles.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <mutex>
#include <pingloom/pages.hpp>
#include <string>
#include <utility>
#include <vector>

namespace pingloom {

// Between begin() and end() every metric is given once; of two with the same name and labels the
// later one is refused. One thread at a time, but for errors() and status().
class PagesMirror {
 public:
  // Throws as Pages does.
  explicit PagesMirror(const PagesOptions& options) : pages_(options) {}

  void begin() {
    for (auto& [key, metric] : published_) metric.seen = false;
  }
  // Removes the metrics that were not given in this round.
  void end() {
    for (auto metric = published_.begin(); metric != published_.end();) {
      if (metric->second.seen) {
        ++metric;
        continue;
      }
      const auto& [name, labels] = metric->first;
      if (metric->second.made) pages_.remove({name, "", labels});
      metric = published_.erase(metric);
    }
  }

  void counter(const std::string& name, const std::string& help, const Labels& labels,
               double value) {
    Published* to = published(Kind::kCounter, name, help, labels);
    if (to != nullptr) to->counter.set(value);
  }
  void gauge(const std::string& name, const std::string& help, const Labels& labels, double value) {
    Published* to = published(Kind::kGauge, name, help, labels);
    if (to != nullptr) to->gauge.set(value);
  }
  // `counts` are those of each bucket by itself, of which there is one more than there are bounds.
  void histogram(const std::string& name, const std::string& help, const Labels& labels,
                 const std::vector<double>& bounds, const std::vector<std::uint64_t>& counts,
                 double sum) {
    Published* to = published(Kind::kHistogram, name, help, labels, bounds);
    if (to != nullptr) to->histogram.set(counts, unitsOf(sum, to->unit));
  }
  // `quantiles` are ascending, and `values` has one for each of them.
  void summary(const std::string& name, const std::string& help, const Labels& labels,
               const std::vector<double>& quantiles, const std::vector<double>& values,
               std::uint64_t count, double sum) {
    Published* to = published(Kind::kSummary, name, help, labels, quantiles);
    if (to != nullptr) to->summary.set(count, sum, values);
  }

  // Remembers why something could not be published.
  void refuse(const std::string& name, std::string why) {
    const std::lock_guard<std::mutex> lock(mutex_);
    errors_[name] = std::move(why);
  }
  // Returns why metrics could not be published, by name. The others are published all the same.
  std::map<std::string, std::string> errors() const {
    const std::lock_guard<std::mutex> lock(mutex_);
    return errors_;
  }
  pingloom_pages_status status() const { return pages_.status(); }

 private:
  enum class Kind { kCounter, kGauge, kHistogram, kSummary };
  struct Published {
    double unit = 1;
    bool seen = false;
    bool made = false;  // whether there is such a metric
    FractionCounter counter;
    Gauge gauge;
    BoundedHistogram histogram;
    QuantileSummary summary;
  };

  static double unitOf(const std::string& name) {
    if (name.find("_seconds") != std::string::npos) return 1e-9;
    return name.find("_bytes") != std::string::npos ? 1 : 1e-6;
  }

  // Returns the value in units. What a page cannot hold saturates.
  static std::uint64_t unitsOf(double value, double unit) {
    constexpr double kMost = 18446744073709549568.0;  // the largest double below 2^64
    const double units = std::round(value / unit);
    if (!(units > 0)) return 0;
    return static_cast<std::uint64_t>(std::min(units, kMost));
  }

  // `numbers` are a histogram's bounds or a summary's quantiles. Returns nullptr if the metric was
  // given in this round already.
  Published* published(Kind kind, const std::string& name, const std::string& help, Labels labels,
                       const std::vector<double>& numbers = {}) {
    std::sort(labels.begin(), labels.end());  // a hash map's order may change
    const auto [found, fresh] = published_.try_emplace({name, labels});
    Published& made = found->second;
    if (made.seen) {
      refuse(name, "two of its label sets are the same on a page: the later one is left out");
      return nullptr;
    }
    made.seen = true;
    if (!fresh) return &made;
    MetricOptions options{name, help, labels};
    if (kind == Kind::kHistogram) options.unit = made.unit = unitOf(name);
    if (kind == Kind::kCounter) made.counter = pages_.fractionCounter(options);
    if (kind == Kind::kGauge) made.gauge = pages_.gauge(options);
    if (kind == Kind::kHistogram) made.histogram = pages_.boundedHistogram(options, numbers);
    if (kind == Kind::kSummary) made.summary = pages_.summary(options, numbers);
    std::string why = pages_.takeLastError();
    made.made = why.empty();
    if (!why.empty()) refuse(name, std::move(why));
    return &made;
  }

  Pages pages_;
  std::map<std::pair<std::string, Labels>, Published> published_;
  mutable std::mutex mutex_;
  std::map<std::string, std::string> errors_;
};

}  // namespace pingloom
