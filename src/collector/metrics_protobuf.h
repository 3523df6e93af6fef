// Writes metrics as length-delimited messages io.prometheus.client.MetricFamily
// (github.com/prometheus/client_model, io/prometheus/client/metrics.proto). A histogram with a
// native schema is there as a native and as a classic histogram, others as a classic one only; the
// scraper takes one of them. An info is a gauge. One thread.
#pragma once

#include <string>
#include <string_view>

#include "common/metrics_writer.h"

namespace pingloom::collector {

class MetricsProtobuf : public MetricsWriter {
 public:
  using MetricsWriter::sample;

  void family(std::string_view name, std::string_view type, std::string_view help) override;
  void sample(MetricValue value, const LabelText& labels) override;
  void sample(MetricValue value, const LabelText& labels, const MetricExemplar& exemplar) override;
  bool hasExemplars() const override { return true; }
  void histogram(const MetricHistogram& histogram, const LabelText& labels) override;
  void summary(const MetricSummary& summary, const LabelText& labels) override;
  std::string take() override;

  static constexpr std::string_view kContentType =
      "application/vnd.google.protobuf; proto=io.prometheus.client.MetricFamily; "
      "encoding=delimited";
  // Whether a scraper's Accept header prefers this format to the text formats.
  static bool isWanted(std::string_view accept);

 private:
  void endFamily();
  // Adds a Metric with the value in this field.
  void addMetric(const LabelText& labels, unsigned field, std::string_view value);

  std::string done_;
  std::string family_;  // the fields of the last family so far
  bool is_counter_ = false;
};

}  // namespace pingloom::collector
