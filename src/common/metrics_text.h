// Writes metrics in the text formats that Prometheus scrapes: its own (0.0.4) and OpenMetrics
// (1.0). A line allocates nothing but room in the text. One thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "common/metrics_writer.h"

namespace pingloom {

enum class MetricsFormat : std::uint8_t { kPrometheus, kOpenMetrics };

class MetricsText : public MetricsWriter {
 public:
  explicit MetricsText(MetricsFormat format = MetricsFormat::kPrometheus) : format_(format) {}

  void family(std::string_view name, std::string_view type, std::string_view help) override;
  using MetricsWriter::sample;
  void sample(MetricValue value, Labels labels) override;
  void sample(MetricValue value, const LabelText& labels) override;
  void sample(MetricValue value, const LabelText& labels, const MetricExemplar& exemplar) override;
  bool hasExemplars() const override { return format_ == MetricsFormat::kOpenMetrics; }
  void histogram(const MetricHistogram& histogram, const LabelText& labels) override;
  void summary(const MetricSummary& summary, const LabelText& labels) override;
  std::string take() override { return std::move(text_); }
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
  // Ends a line. Only OpenMetrics has exemplars.
  void endLine(MetricValue value, const MetricExemplar* exemplar = nullptr);
  void line(std::string_view suffix, MetricValue value, const LabelText& labels,
            const MetricExemplar* exemplar = nullptr);
  // Writes a line with a further label whose value is a number.
  void line(std::string_view suffix, MetricValue value, const LabelText& labels,
            std::string_view further, double number, const MetricExemplar* exemplar = nullptr);

  MetricsFormat format_;
  std::string text_;
  std::string family_;
  // What the names of the family's samples end with.
  std::string_view suffix_;
};

}  // namespace pingloom
