// What the example uses of opentelemetry-cpp beside the exporter's interface: how an application
// sets the SDK up, and its instruments. They are declared only, so the example is compiled and not
// run.
#pragma once

#include "declarations.h"

namespace opentelemetry {
inline namespace v1 {

namespace context {
class Context {};
}  // namespace context

namespace metrics {
template <typename T>
class Counter {
 public:
  virtual ~Counter() = default;
  virtual void Add(T value) noexcept = 0;
};
template <typename T>
class Histogram {
 public:
  virtual ~Histogram() = default;
  virtual void Record(T value, const context::Context& context) noexcept = 0;
};
class Meter {
 public:
  virtual ~Meter() = default;
  virtual nostd::unique_ptr<Counter<std::uint64_t>> CreateUInt64Counter(
      nostd::string_view name, nostd::string_view description = "",
      nostd::string_view unit = "") noexcept = 0;
  virtual nostd::unique_ptr<Histogram<double>> CreateDoubleHistogram(
      nostd::string_view name, nostd::string_view description = "",
      nostd::string_view unit = "") noexcept = 0;
};
class MeterProvider {
 public:
  virtual ~MeterProvider() = default;
  virtual nostd::shared_ptr<Meter> GetMeter(nostd::string_view name,
                                            nostd::string_view version = "",
                                            nostd::string_view schema_url = "") noexcept = 0;
};
}  // namespace metrics

namespace sdk::metrics {
class MetricReader {
 public:
  virtual ~MetricReader() = default;
};
class MeterContext {
 public:
  void AddMetricReader(std::shared_ptr<MetricReader> reader) noexcept;
};
struct MeterContextFactory {
  static std::unique_ptr<MeterContext> Create();
};
struct MeterProviderFactory {
  static std::unique_ptr<opentelemetry::metrics::MeterProvider> Create(
      std::unique_ptr<MeterContext> context);
};
struct PeriodicExportingMetricReaderOptions {
  std::chrono::milliseconds export_interval_millis{60'000};
  std::chrono::milliseconds export_timeout_millis{30'000};
};
struct PeriodicExportingMetricReaderFactory {
  static std::unique_ptr<MetricReader> Create(std::unique_ptr<PushMetricExporter> exporter,
                                              const PeriodicExportingMetricReaderOptions& options);
};
}  // namespace sdk::metrics
}  // namespace v1
}  // namespace opentelemetry
