// Publishes the metrics of prometheus-cpp as metric pages, so that a collector reads them without
// HTTP. An application changes two lines:
//
//   #include <pingloom/prometheus_cpp.hpp>
//   pingloom::PrometheusPages pages(registry, "orders");  // instead of an Exposer
//
// A thread copies the registry into pages every second, and the application's own updates stay as
// they are. Counters and histograms keep their names, labels and buckets. Fractions are kept in
// steps of 1e-9 in names with `_seconds`, of 1 in names with `_bytes`, and of 1e-6 otherwise.
// Summaries keep their quantiles, of which there are at most 32. What is removed from the registry
// is removed from the pages. Needs C++17 and prometheus-cpp.
#pragma once

#include <prometheus/collectable.h>
#include <prometheus/metric_family.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <map>
#include <memory>
#include <mutex>
#include <pingloom/pages.hpp>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace pingloom {

class PrometheusPages {
 public:
  // Copies at once and then every `period`. The application's name has 1 to 64 bytes. Throws as
  // Pages does, and what Collect() throws. The thread ends with this object, and does not run in
  // forked children.
  PrometheusPages(std::shared_ptr<prometheus::Collectable> source, const std::string& application,
                  std::chrono::milliseconds period = std::chrono::seconds(1))
      : PrometheusPages(std::move(source), optionsOf(application), period) {}
  PrometheusPages(std::shared_ptr<prometheus::Collectable> source, const PagesOptions& options,
                  std::chrono::milliseconds period = std::chrono::seconds(1))
      : source_(std::move(source)), pages_(options) {
    copy();
    thread_ = std::thread([this, period] { run(period); });
  }
  ~PrometheusPages() {
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      ended_ = true;
    }
    wake_.notify_all();
    thread_.join();
  }
  PrometheusPages(const PrometheusPages&) = delete;
  PrometheusPages& operator=(const PrometheusPages&) = delete;

  // Returns why metrics could not be published, by name. The others are published all the same.
  std::map<std::string, std::string> errors() const {
    const std::lock_guard<std::mutex> lock(mutex_);
    return errors_;
  }
  pingloom_pages_status status() const { return pages_.status(); }

 private:
  using Metric = prometheus::ClientMetric;
  enum class Kind { kCounter, kGauge, kHistogram, kSummary };
  struct Published {
    Kind kind = Kind::kGauge;
    double unit = 1;
    bool seen = false;
    bool made = false;  // whether there is such a metric
    SharedCounter counter;
    Gauge gauge;
    BoundedHistogram histogram;
    QuantileSummary summary;
  };

  static PagesOptions optionsOf(const std::string& application) {
    PagesOptions options;
    options.application = application;
    return options;
  }

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

  void run(std::chrono::milliseconds period) {
    std::unique_lock<std::mutex> lock(mutex_);
    while (!wake_.wait_for(lock, period, [this] { return ended_; })) {
      lock.unlock();
      std::string why;
      try {
        copy();
      } catch (const std::exception& error) {  // the next copy tries again
        why = error.what();
      }
      lock.lock();
      if (!why.empty()) errors_["Collect"] = why;
    }
  }

  void copy() {
    for (auto& [key, metric] : published_) metric.seen = false;
    for (const prometheus::MetricFamily& family : source_->Collect()) {
      for (const Metric& metric : family.metric) copy(family, metric);
    }
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

  void copy(const prometheus::MetricFamily& family, const Metric& metric) {
    Labels labels;
    for (const auto& label : metric.label) labels.emplace_back(label.name, label.value);
    switch (family.type) {
      case prometheus::MetricType::Counter: {
        Published& to = published(family.name, family, labels, Kind::kCounter);
        return to.counter.set(unitsOf(metric.counter.value, to.unit));
      }
      case prometheus::MetricType::Histogram:
        return copyHistogram(family, metric.histogram, labels);
      case prometheus::MetricType::Summary:
        return copySummary(family, metric.summary, labels);
      case prometheus::MetricType::Gauge:
        return setGauge(family.name, family, labels, metric.gauge.value);
      default:
        return setGauge(family.name, family, labels, metric.untyped.value);
    }
  }

  void setGauge(const std::string& name, const prometheus::MetricFamily& family,
                const Labels& labels, double value) {
    published(name, family, labels, Kind::kGauge).gauge.set(value);
  }

  void copyHistogram(const prometheus::MetricFamily& family, const Metric::Histogram& from,
                     const Labels& labels) {
    std::vector<double> bounds;
    std::vector<std::uint64_t> counts;
    std::uint64_t below = 0;
    for (const Metric::Bucket& bucket : from.bucket) {
      if (std::isinf(bucket.upper_bound)) continue;
      bounds.push_back(bucket.upper_bound);
      counts.push_back(bucket.cumulative_count - below);
      below = bucket.cumulative_count;
    }
    counts.push_back(from.sample_count - std::min(from.sample_count, below));
    Published& to = published(family.name, family, labels, Kind::kHistogram, bounds);
    to.histogram.set(counts, unitsOf(from.sample_sum, to.unit));
  }

  void copySummary(const prometheus::MetricFamily& family, const Metric::Summary& from,
                   const Labels& labels) {
    std::map<double, double> values;  // by quantile, which the registry has in any order
    for (const Metric::Quantile& one : from.quantile) values.emplace(one.quantile, one.value);
    std::vector<double> quantiles;
    std::vector<double> there;
    for (const auto& [quantile, value] : values) {
      quantiles.push_back(quantile);
      there.push_back(value);
    }
    published(family.name, family, labels, Kind::kSummary, quantiles)
        .summary.set(from.sample_count, from.sample_sum, there);
  }

  // `numbers` are a histogram's bounds or a summary's quantiles.
  Published& published(const std::string& name, const prometheus::MetricFamily& family,
                       const Labels& labels, Kind kind, const std::vector<double>& numbers = {}) {
    const auto [found, fresh] = published_.try_emplace({name, labels});
    Published& made = found->second;
    made.seen = true;
    if (!fresh) return made;
    made.kind = kind;
    MetricOptions options{name, family.help, labels};
    if (kind == Kind::kCounter || kind == Kind::kHistogram) options.unit = made.unit = unitOf(name);
    if (kind == Kind::kCounter) made.counter = pages_.sharedCounter(options);
    if (kind == Kind::kGauge) made.gauge = pages_.gauge(options);
    if (kind == Kind::kHistogram) made.histogram = pages_.boundedHistogram(options, numbers);
    if (kind == Kind::kSummary) made.summary = pages_.summary(options, numbers);
    std::string why = pages_.takeLastError();
    made.made = why.empty();
    if (!why.empty()) {
      const std::lock_guard<std::mutex> lock(mutex_);
      errors_[name] = std::move(why);
    }
    return made;
  }

  std::shared_ptr<prometheus::Collectable> source_;
  Pages pages_;
  std::map<std::pair<std::string, Labels>, Published> published_;  // used by the copying thread
  mutable std::mutex mutex_;                                       // guards the rest
  std::condition_variable wake_;
  std::map<std::string, std::string> errors_;
  bool ended_ = false;
  std::thread thread_;
};

}  // namespace pingloom
