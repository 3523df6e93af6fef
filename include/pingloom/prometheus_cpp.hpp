// Publishes the metrics of prometheus-cpp as metric pages, so that a collector reads them without
// HTTP. An application changes two lines:
//
//   #include <pingloom/prometheus_cpp.hpp>
//   pingloom::PrometheusPages pages(registry, "orders");  // instead of an Exposer
//
// A thread copies the registry into pages every second, and the application's own updates stay as
// they are. Counters and histograms keep their names, labels and buckets. The sum of a histogram is
// kept in steps of 1e-9 in names with `_seconds`, of 1 in names with `_bytes`, and of 1e-6
// otherwise.
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
#include <pingloom/pages_mirror.hpp>
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
      : source_(std::move(source)), mirror_(options) {
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
  std::map<std::string, std::string> errors() const { return mirror_.errors(); }
  pingloom_pages_status status() const { return mirror_.status(); }

 private:
  using Metric = prometheus::ClientMetric;

  static PagesOptions optionsOf(const std::string& application) {
    PagesOptions options;
    options.application = application;
    return options;
  }

  void run(std::chrono::milliseconds period) {
    std::unique_lock<std::mutex> lock(mutex_);
    while (!wake_.wait_for(lock, period, [this] { return ended_; })) {
      lock.unlock();
      try {
        copy();
      } catch (const std::exception& error) {  // the next copy tries again
        mirror_.refuse("Collect", error.what());
      }
      lock.lock();
    }
  }

  void copy() {
    mirror_.begin();
    for (const prometheus::MetricFamily& family : source_->Collect()) {
      for (const Metric& metric : family.metric) copy(family, metric);
    }
    mirror_.end();
  }

  void copy(const prometheus::MetricFamily& family, const Metric& metric) {
    Labels labels;
    for (const auto& label : metric.label) labels.emplace_back(label.name, label.value);
    switch (family.type) {
      case prometheus::MetricType::Counter:
        return mirror_.counter(family.name, family.help, labels, metric.counter.value);
      case prometheus::MetricType::Histogram:
        return copyHistogram(family, metric.histogram, labels);
      case prometheus::MetricType::Summary:
        return copySummary(family, metric.summary, labels);
      case prometheus::MetricType::Gauge:
        return mirror_.gauge(family.name, family.help, labels, metric.gauge.value);
      default:
        return mirror_.gauge(family.name, family.help, labels, metric.untyped.value);
    }
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
    mirror_.histogram(family.name, family.help, labels, bounds, counts, from.sample_sum);
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
    mirror_.summary(family.name, family.help, labels, quantiles, there, from.sample_count,
                    from.sample_sum);
  }

  std::shared_ptr<prometheus::Collectable> source_;
  PagesMirror mirror_;
  std::mutex mutex_;  // guards the rest
  std::condition_variable wake_;
  bool ended_ = false;
  std::thread thread_;
};

}  // namespace pingloom
