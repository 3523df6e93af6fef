// Writes metrics as messages Metric of OpenTelemetry's protocol
// (github.com/open-telemetry/opentelemetry-proto, opentelemetry/proto/metrics/v1/metrics.proto), as
// fields `metrics` of ScopeMetrics. A counter is a cumulative monotonic Sum, a gauge or an info a
// Gauge, a histogram a cumulative Histogram with its bounds, and a summary a Summary. A family with
// many points is written as several messages of its name, so that requests can be divided. One
// thread.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "common/metrics_writer.h"
#include "common/time.h"

namespace pingloom::collector {

class OtlpWriter : public MetricsWriter {
 public:
  using MetricsWriter::sample;

  // All points have this time.
  explicit OtlpWriter(Nanos now_utc) : now_utc_(now_utc) {}

  void family(std::string_view name, std::string_view type, std::string_view help) override;
  void sample(MetricValue value, const LabelText& labels) override;
  void sample(MetricValue value, const LabelText& labels, const MetricExemplar& exemplar) override;
  bool hasExemplars() const override { return true; }
  void histogram(const MetricHistogram& histogram, const LabelText& labels) override;
  void summary(const MetricSummary& summary, const LabelText& labels) override;
  std::string take() override;

 private:
  enum class Kind : std::uint8_t { kGauge, kSum, kHistogram, kSummary };

  void addNumber(MetricValue value, const LabelText& labels, const MetricExemplar* exemplar);
  static void appendAttributes(std::string& point, unsigned field, const LabelText& labels);
  void addPoint(std::string_view point);
  // Writes the points so far as a message.
  void endMetric();

  const Nanos now_utc_;
  Kind kind_ = Kind::kGauge;
  std::string head_;    // name and description of the last family
  std::string points_;  // of the message that has not ended
  std::uint32_t point_count_ = 0;
  std::string records_;
};

// A record in what an OtlpWriter has written, which owns the bytes.
struct OtlpRecord {
  std::uint32_t points = 0;
  std::string_view metric;  // the field `metrics`
};

// Calls `use(record)` for each record.
void forEachMetric(std::string_view records, const std::function<void(const OtlpRecord&)>& use);

}  // namespace pingloom::collector
