// Writes metrics, whatever the format. Names are whole ("pingloom_agent_pings_sent_total") and
// units are base units. A value that is not known is left out, never written as 0. One thread.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/time.h"

namespace pingloom {

// A count is written with all its digits.
class MetricValue {
 public:
  template <std::integral Count>
  constexpr MetricValue(Count count)
      : is_count_(count >= 0),
        count_(static_cast<std::uint64_t>(count)),
        number_(static_cast<double>(count)) {}
  constexpr MetricValue(double number) : number_(number) {}

  constexpr double number() const { return number_; }
  void appendTo(std::string& text) const;

 private:
  bool is_count_ = false;
  std::uint64_t count_ = 0;
  double number_;
};

// Labels, written once for many samples.
class LabelText {
 public:
  void add(std::string_view name, std::string_view value);
  // As they stand in a line of Prometheus' text format: a="1",b="2".
  const std::string& text() const { return text_; }
  // Calls `use(name, value)` for each label, in the order in which they were added.
  template <std::invocable<std::string_view, std::string_view> Use>
  void forEach(Use use) const {
    std::size_t at = 0;
    for (const auto& [name, value] : sizes_) {
      const std::string_view plain = plain_;
      use(plain.substr(at, name), plain.substr(at + name, value));
      at += name + value;
    }
  }

 private:
  std::string text_;
  std::string plain_;  // names and values, one after the other
  std::vector<std::pair<std::size_t, std::size_t>> sizes_;
};

// A figure of this process under the name that all of Prometheus' clients use.
struct ProcessMetric {
  std::string_view name;
  std::string_view type;
  std::string_view help;
  double value = 0;
};
// Returns process_cpu_seconds_total, process_resident_memory_bytes and process_open_fds, except
// those that the system does not tell.
std::vector<ProcessMetric> processMetrics();

// A value that a counter or histogram was given, with labels that say which trace it belongs to.
// The labels have at most 128 characters.
struct MetricExemplar {
  LabelText labels;
  double value = 0;
  Nanos time = 0;  // UTC
};

struct MetricHistogram {
  std::span<const std::uint64_t> buckets;
  // The upper bound of a bucket; the last one has none and is not asked for.
  std::function<double(std::size_t)> upper = {};
  double sum = 0;
  // The schema of a Prometheus native histogram that represents the buckets; nullopt: none does.
  std::optional<int> native_schema = std::nullopt;
  // Only every so many-th bound from the first one is shown, and the last bucket. Native
  // histograms have all. At least 1.
  std::size_t step = 1;
  std::span<const MetricExemplar> exemplars = {};

  // Calls `use(bucket, count)` with the cumulative count, which saturates, of each bucket that is
  // shown, and returns that of all. With a third parameter, it is given the exemplar to show there.
  template <std::invocable<std::size_t, std::uint64_t> Use>
  std::uint64_t cumulate(Use use) const {
    std::uint64_t count = 0;
    for (std::size_t i = 0; i < buckets.size(); ++i) {
      if (__builtin_add_overflow(count, buckets[i], &count)) count = UINT64_MAX;
      if (i % step == 0 || i + 1 == buckets.size()) use(i, count);
    }
    return count;
  }
  template <std::invocable<std::size_t, std::uint64_t, const MetricExemplar*> Use>
  std::uint64_t cumulate(Use use) const {
    double above = -std::numeric_limits<double>::infinity();
    return cumulate([&](std::size_t bucket, std::uint64_t count) {
      const MetricExemplar* exemplar = nullptr;
      if (!exemplars.empty()) {
        const double most = bound(bucket);
        exemplar = exemplarIn(std::exchange(above, most), most);
      }
      use(bucket, count, exemplar);
    });
  }
  // The latest exemplar whose value is above one number and at most another; nullptr: there is
  // none.
  const MetricExemplar* exemplarIn(double above, double most) const;
  // The last bucket's bound is infinity.
  double bound(std::size_t bucket) const;
};

// Quantiles that were computed elsewhere. OpenMetrics and OpenTelemetry's protocol have neither
// negative sums nor negative quantiles, so their writers leave these out.
struct MetricSummary {
  struct Quantile {
    double rank = 0;   // 0 to 1
    double value = 0;  // NaN if it is not known
  };

  std::uint64_t count = 0;
  double sum = 0;
  std::vector<Quantile> quantiles = {};  // by rank, ascending
};

class MetricsWriter {
 public:
  using Labels = std::initializer_list<std::pair<std::string_view, std::string_view>>;

  MetricsWriter() = default;
  virtual ~MetricsWriter() = default;
  MetricsWriter(const MetricsWriter&) = default;
  MetricsWriter& operator=(const MetricsWriter&) = default;

  // Declares a family; its samples follow directly. `type` is counter, gauge, histogram,
  // summary or info. An empty `help` is left out.
  virtual void family(std::string_view name, std::string_view type, std::string_view help) = 0;
  virtual void sample(MetricValue value, const LabelText& labels) = 0;
  virtual void sample(MetricValue value, Labels labels);
  void sample(MetricValue value) { sample(value, Labels{}); }
  // A counter's sample with an exemplar, which formats that have none leave out.
  virtual void sample(MetricValue value, const LabelText& labels, const MetricExemplar& exemplar);
  // Whether the format has exemplars, so that finding them is of use.
  virtual bool hasExemplars() const { return false; }
  // All samples of a histogram.
  virtual void histogram(const MetricHistogram& histogram, const LabelText& labels) = 0;
  // All samples of a summary.
  virtual void summary(const MetricSummary& summary, const LabelText& labels) = 0;
  // Returns the bytes that were written. What several writers of a format have written may be
  // concatenated, in any order.
  virtual std::string take() = 0;

  // family() and one sample without labels.
  void counter(std::string_view name, std::string_view help, std::uint64_t value);
  void gauge(std::string_view name, std::string_view help, MetricValue value);
  // The families of processMetrics().
  void process();
};

}  // namespace pingloom
