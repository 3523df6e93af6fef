// Shows metrics of pages to prometheus-cpp, so that an application that counts into pages keeps its
// HTTP endpoint:
//
//   #include <pingloom/prometheus_cpp_collectable.hpp>
//   auto shown = std::make_shared<pingloom::CollectablePages>(pages);
//   exposer.RegisterCollectable(shown);
//   auto orders = shown->sharedCounter({"orders_total", "Orders that were placed."});
//
// What is made through it is in the pages as if Pages had made it, and costs the same. Collect()
// reads values while they are updated, so those of a group may be from before and after an update.
// The labels are those of the metrics, without those of the pages. Needs C++17 and prometheus-cpp.
// Any thread, as far as Pages allows it.
#pragma once

#include <pingloom/page_format.h>
#include <prometheus/collectable.h>
#include <prometheus/metric_family.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <functional>
#include <limits>
#include <map>
#include <mutex>
#include <pingloom/pages.hpp>
#include <string>
#include <utility>
#include <vector>

namespace pingloom {

class CollectablePages : public prometheus::Collectable {
 public:
  // REQUIRES: the pages outlive it.
  explicit CollectablePages(Pages& pages) : pages_(pages) {}

  Counter counter(const MetricOptions& options) {
    const Counter made = pages_.counter(options);
    addCounter(options, made.handle().slot);
    return made;
  }
  SharedCounter sharedCounter(const MetricOptions& options) {
    const SharedCounter made = pages_.sharedCounter(options);
    addCounter(options, made.handle().slot);
    return made;
  }
  FractionCounter fractionCounter(const MetricOptions& options) {
    const FractionCounter made = pages_.fractionCounter(options);
    const std::uint64_t* slot = made.handle().slot;
    add(options, prometheus::MetricType::Counter, slot,
        [slot](ClientMetric& to) { to.counter.value = readDouble(slot); });
    return made;
  }
  Gauge gauge(const MetricOptions& options) {
    const Gauge made = pages_.gauge(options);
    const std::uint64_t* slot = made.handle().slot;
    add(options, prometheus::MetricType::Gauge, slot,
        [slot](ClientMetric& to) { to.gauge.value = readDouble(slot); });
    return made;
  }
  Histogram histogram(const MetricOptions& options) {
    const Histogram made = pages_.histogram(options);
    addHistogram(options, made.handle().slots, made.handle().shape);
    return made;
  }
  SharedHistogram sharedHistogram(const MetricOptions& options) {
    const SharedHistogram made = pages_.sharedHistogram(options);
    addHistogram(options, made.handle().slots, made.handle().shape);
    return made;
  }
  BoundedHistogram boundedHistogram(const MetricOptions& options,
                                    const std::vector<double>& bounds) {
    const BoundedHistogram made = pages_.boundedHistogram(options, bounds);
    const pingloom_bounded_histogram& handle = made.handle();
    addHistogram(options, handle.slots, {handle.bounds, handle.bounds + handle.bound_count});
    return made;
  }
  // Removes it from the pages too, see Pages::remove(). What is shown has to be removed here,
  // because another metric may get its place in the pages.
  bool remove(const MetricOptions& options) {
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto family = families_.find(options.name);
    if (family == families_.end()) return false;
    auto& metrics = family->second.metrics;
    const auto found = find(metrics, sorted(options.labels));
    if (found == metrics.end()) return false;
    metrics.erase(found);
    if (metrics.empty()) families_.erase(family);
    return pages_.remove(options);
  }

  std::vector<prometheus::MetricFamily> Collect() const override {
    std::vector<prometheus::MetricFamily> collected;
    const std::lock_guard<std::mutex> lock(mutex_);
    for (const auto& [name, family] : families_) {
      prometheus::MetricFamily& to = collected.emplace_back();
      to.name = name;
      to.help = family.help;
      to.type = family.type;
      for (const Metric& metric : family.metrics) {
        ClientMetric& one = to.metric.emplace_back();
        for (const auto& [label, value] : metric.labels) one.label.push_back({label, value});
        metric.read(one);
      }
    }
    return collected;
  }

 private:
  using ClientMetric = prometheus::ClientMetric;
  using SortedLabels = std::map<std::string, std::string>;
  struct Metric {
    SortedLabels labels;
    std::function<void(ClientMetric&)> read;
  };
  struct Family {
    std::string help;
    prometheus::MetricType type = prometheus::MetricType::Untyped;
    std::vector<Metric> metrics;
  };

  static SortedLabels sorted(const Labels& labels) { return {labels.begin(), labels.end()}; }
  static std::uint64_t read(const std::uint64_t* slot) {
    return __atomic_load_n(slot, __ATOMIC_RELAXED);
  }
  static double readDouble(const std::uint64_t* slot) {
    const std::uint64_t bits = read(slot);
    double value = 0;
    std::memcpy(&value, &bits, sizeof value);
    return value;
  }

  static std::vector<Metric>::iterator find(std::vector<Metric>& metrics,
                                            const SortedLabels& labels) {
    return std::find_if(metrics.begin(), metrics.end(),
                        [&](const Metric& metric) { return metric.labels == labels; });
  }
  // A metric that could not be made is not shown; all of them have one place.
  void add(const MetricOptions& options, prometheus::MetricType type, const std::uint64_t* slot,
           std::function<void(ClientMetric&)> read) {
    if (slot == SharedCounter().handle().slot) return;
    const std::lock_guard<std::mutex> lock(mutex_);
    Family& family = families_[options.name];
    if (family.metrics.empty()) family = {options.help, type, {}};
    const SortedLabels labels = sorted(options.labels);
    if (find(family.metrics, labels) != family.metrics.end()) return;  // it was made before
    family.metrics.push_back({labels, std::move(read)});
  }
  void addCounter(const MetricOptions& options, const std::uint64_t* slot) {
    add(options, prometheus::MetricType::Counter, slot,
        [slot, unit = options.unit](ClientMetric& to) {
          to.counter.value = static_cast<double>(read(slot)) * unit;
        });
  }
  void addHistogram(const MetricOptions& options, const std::uint64_t* slots,
                    pingloom_histogram_shape shape) {
    std::vector<double> bounds;
    for (unsigned i = 0; i + 1 < pingloom_histogram_buckets(shape); ++i) {
      bounds.push_back(static_cast<double>(pingloom_histogram_upper(shape, i)) * options.unit);
    }
    addHistogram(options, slots, std::move(bounds));
  }
  void addHistogram(const MetricOptions& options, const std::uint64_t* slots,
                    std::vector<double> bounds) {
    add(options, prometheus::MetricType::Histogram, slots,
        [slots, bounds = std::move(bounds), unit = options.unit](ClientMetric& to) {
          to.histogram.sample_sum = static_cast<double>(read(slots)) * unit;
          std::uint64_t count = 0;
          for (std::size_t i = 0; i <= bounds.size(); ++i) {
            count += read(slots + 1 + i);
            const double upper =
                i < bounds.size() ? bounds[i] : std::numeric_limits<double>::infinity();
            to.histogram.bucket.push_back({count, upper});
          }
          to.histogram.sample_count = count;
        });
  }

  Pages& pages_;
  mutable std::mutex mutex_;
  std::map<std::string, Family> families_;
};

}  // namespace pingloom
