// Writes metrics in the text formats that Prometheus scrapes: its own (0.0.4) and OpenMetrics
// (1.0). Names are whole ("pingloom_agent_pings_sent_total") and units are base units. A value that
// is not known is left out, never written as 0. A line allocates nothing but room in the text. One
// thread.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace pingloom {

enum class MetricsFormat : std::uint8_t { kPrometheus, kOpenMetrics };

// A count is written with all its digits.
class MetricValue {
 public:
  template <std::integral Count>
  constexpr MetricValue(Count count)
      : is_count_(count >= 0),
        count_(static_cast<std::uint64_t>(count)),
        number_(static_cast<double>(count)) {}
  constexpr MetricValue(double number) : number_(number) {}

  void appendTo(std::string& text) const;

 private:
  bool is_count_ = false;
  std::uint64_t count_ = 0;
  double number_;
};

// Labels as they stand in a line, written once for many samples: a="1",b="2".
class LabelText {
 public:
  void add(std::string_view name, std::string_view value);
  const std::string& text() const { return text_; }

 private:
  std::string text_;
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

class MetricsText {
 public:
  using Labels = std::initializer_list<std::pair<std::string_view, std::string_view>>;

  explicit MetricsText(MetricsFormat format = MetricsFormat::kPrometheus) : format_(format) {}

  // Declares a family; its samples follow directly. `type` is counter, gauge, histogram or info.
  // An empty `help` is left out.
  void family(std::string_view name, std::string_view type, std::string_view help);
  void sample(MetricValue value, Labels labels = {});
  void sample(MetricValue value, const LabelText& labels);
  // All samples of a histogram: `upper(i)` is the upper bound of buckets[i], where the last one has
  // none. Counts saturate.
  template <std::invocable<std::size_t> Upper>
  void histogram(std::span<const std::uint64_t> buckets, Upper upper, double sum,
                 const LabelText& labels) {
    std::uint64_t count = 0;
    for (std::size_t i = 0; i < buckets.size(); ++i) {
      if (__builtin_add_overflow(count, buckets[i], &count)) count = UINT64_MAX;
      const bool last = i + 1 == buckets.size();
      bucket(last ? std::numeric_limits<double>::infinity() : upper(i), count, labels);
    }
    line("_sum", sum, labels);
    line("_count", count, labels);
  }
  // family() and one sample without labels.
  void counter(std::string_view name, std::string_view help, std::uint64_t value);
  void gauge(std::string_view name, std::string_view help, MetricValue value);
  // The families of processMetrics().
  void process();
  // Follows the last family.
  void finish();

  MetricsFormat format() const { return format_; }
  const std::string& text() const { return text_; }

  static std::string_view contentType(MetricsFormat format);
  // The format that a scraper's Accept header asks for.
  static MetricsFormat formatFor(std::string_view accept);
  // A family's name in `# TYPE`: OpenMetrics leaves out the "_total" of counters and the "_info" of
  // infos, with which their samples end.
  static std::string_view familyName(std::string_view name, std::string_view type,
                                     MetricsFormat format);

 private:
  void beginLine(std::string_view suffix);
  void line(std::string_view suffix, MetricValue value, const LabelText& labels);
  void bucket(double upper, std::uint64_t count, const LabelText& labels);

  MetricsFormat format_;
  std::string text_;
  std::string family_;
  // What the names of the family's samples end with.
  std::string_view suffix_;
};

}  // namespace pingloom
