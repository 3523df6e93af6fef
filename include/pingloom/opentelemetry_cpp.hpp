// Exports the metrics of OpenTelemetry's SDK for C++ as metric pages, so that a collector reads
// them without a push. An application changes two lines:
//
//   #include <pingloom/opentelemetry_cpp.hpp>
//   auto exporter = std::make_unique<pingloom::PagesMetricExporter>("orders");
//
// The second line stands instead of another exporter's. The application gives the exporter to a
// PeriodicExportingMetricReader as before. Names become Prometheus' as OpenTelemetry's
// specification has it: other characters become underscores, units are written out at the end (`s`
// is `_seconds`), and monotonic sums end with `_total`. Attributes become labels. Of the
// resource's, those in $OTEL_RESOURCE_ATTRIBUTES do, too; give what else is needed as labels of
// PagesOptions. Histograms keep their bounds, and pages_mirror.hpp says how fractions are kept.
// Deltas and exponential histograms are left out and told in errors(). A label set that is no
// longer exported is removed from the pages. Needs C++17 and opentelemetry-cpp 1.9 or later.
#pragma once

#include <opentelemetry/sdk/metrics/data/metric_data.h>
#include <opentelemetry/sdk/metrics/data/point_data.h>
#include <opentelemetry/sdk/metrics/export/metric_producer.h>
#include <opentelemetry/sdk/metrics/instruments.h>
#include <opentelemetry/sdk/metrics/push_metric_exporter.h>

#include <array>
#include <atomic>
#include <charconv>
#include <chrono>
#include <cstdint>
#include <exception>
#include <map>
#include <pingloom/pages_mirror.hpp>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace pingloom {

// The reader calls it from one thread at a time. Any thread may call errors() and status(). The
// pages end with this object; after Shutdown() they keep what they have.
class PagesMetricExporter : public opentelemetry::sdk::metrics::PushMetricExporter {
 public:
  // Throws as Pages does.
  explicit PagesMetricExporter(const std::string& application)
      : PagesMetricExporter(optionsOf(application)) {}
  explicit PagesMetricExporter(const PagesOptions& options) : mirror_(options) {}

  opentelemetry::sdk::common::ExportResult Export(
      const opentelemetry::sdk::metrics::ResourceMetrics& data) noexcept override {
    using Result = opentelemetry::sdk::common::ExportResult;
    if (shut_down_) return Result::kFailure;
    try {
      mirror_.begin();
      for (const auto& scope : data.scope_metric_data_) {
        for (const auto& metric : scope.metric_data_) copy(metric);
      }
      mirror_.end();
    } catch (const std::exception&) {  // there is no memory
      return Result::kFailure;
    }
    return Result::kSuccess;
  }

  opentelemetry::sdk::metrics::AggregationTemporality GetAggregationTemporality(
      opentelemetry::sdk::metrics::InstrumentType) const noexcept override {
    return opentelemetry::sdk::metrics::AggregationTemporality::kCumulative;
  }

  // What was exported is in the pages.
  bool ForceFlush(std::chrono::microseconds) noexcept override { return true; }
  bool Shutdown(std::chrono::microseconds) noexcept override {
    shut_down_ = true;
    return true;
  }

  // Returns why metrics could not be exported, by name. The others are exported all the same.
  std::map<std::string, std::string> errors() const { return mirror_.errors(); }
  pingloom_pages_status status() const { return mirror_.status(); }

 private:
  using MetricData = opentelemetry::sdk::metrics::MetricData;
  using SumPoint = opentelemetry::sdk::metrics::SumPointData;
  using LastValue = opentelemetry::sdk::metrics::LastValuePointData;
  using HistogramPoint = opentelemetry::sdk::metrics::HistogramPointData;
  using DropPoint = opentelemetry::sdk::metrics::DropPointData;

  static PagesOptions optionsOf(const std::string& application) {
    PagesOptions options;
    options.application = application;
    return options;
  }

  // Each run of characters that names do not have becomes an underscore.
  static std::string identifier(std::string_view text) {
    std::string made;
    bool replaced = false;
    for (const char c : text) {
      const bool digit = c >= '0' && c <= '9';
      const bool kept = digit || c == '_' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
      if (digit && made.empty()) made += '_';
      if (kept || !replaced) made += kept ? c : '_';
      replaced = !kept;
    }
    return made;
  }

  static std::string_view nameOfUnit(std::string_view unit) {
    constexpr std::array<std::pair<std::string_view, std::string_view>, 12> kUnits = {{
        {"s", "seconds"},
        {"ms", "milliseconds"},
        {"us", "microseconds"},
        {"ns", "nanoseconds"},
        {"min", "minutes"},
        {"h", "hours"},
        {"d", "days"},
        {"By", "bytes"},
        {"KiBy", "kibibytes"},
        {"MiBy", "mebibytes"},
        {"GiBy", "gibibytes"},
        {"%", "percent"},
    }};
    for (const auto& [symbol, name] : kUnits) {
      if (symbol == unit) return name;
    }
    return {};
  }

  static void addSuffix(std::string* name, std::string_view suffix) {
    const bool there = name->size() > suffix.size() &&
                       name->compare(name->size() - suffix.size(), suffix.size(), suffix) == 0 &&
                       (*name)[name->size() - suffix.size() - 1] == '_';
    if (!suffix.empty() && !there) name->append("_").append(suffix);
  }

  static std::string nameOf(const MetricData& metric) {
    std::string name = identifier(metric.instrument_descriptor.name_);
    addSuffix(&name, nameOfUnit(metric.instrument_descriptor.unit_));
    return name;
  }

  // Numbers are as short as they read back, whatever the program's locale is.
  template <typename Value>
  static void appendValue(std::string* out, const Value& value) {
    if constexpr (std::is_same_v<Value, bool>) {
      *out += value ? "true" : "false";
    } else if constexpr (std::is_arithmetic_v<Value>) {
      std::array<char, 32> digits;
      const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), +value);
      out->append(digits.data(), end.ptr);
    } else {
      *out += value;
    }
  }
  template <typename Value>
  static void appendValue(std::string* out, const std::vector<Value>& values) {
    const char* separator = "";
    for (auto&& value : values) {
      *out += separator;
      appendValue(out, static_cast<const Value&>(value));
      separator = ",";
    }
  }

  template <typename Attributes>
  static Labels labelsOf(const Attributes& attributes) {
    Labels labels;
    for (const auto& [name, value] : attributes) {
      std::string text;
      opentelemetry::nostd::visit([&text](const auto& one) { appendValue(&text, one); }, value);
      labels.emplace_back(identifier(name), std::move(text));
    }
    return labels;
  }

  template <typename Value>
  static double numberOf(const Value& value) {
    return opentelemetry::nostd::visit([](auto number) { return static_cast<double>(number); },
                                       value);
  }

  void copy(const MetricData& metric) {
    using opentelemetry::nostd::get_if;
    using Temporality = opentelemetry::sdk::metrics::AggregationTemporality;
    const std::string name = nameOf(metric);
    const std::string& help = metric.instrument_descriptor.description_;
    for (const auto& point : metric.point_data_attr_) {
      const auto* sum = get_if<SumPoint>(&point.point_data);
      const auto* histogram = get_if<HistogramPoint>(&point.point_data);
      const auto* last = get_if<LastValue>(&point.point_data);
      if (last != nullptr) {
        if (!last->is_lastvalue_valid_) continue;
        mirror_.gauge(name, help, labelsOf(point.attributes), numberOf(last->value_));
      } else if ((sum != nullptr || histogram != nullptr) &&
                 metric.aggregation_temporality == Temporality::kDelta) {
        mirror_.refuse(name, "it is exported as deltas: let the reader prefer cumulative ones");
      } else if (sum != nullptr) {
        copySum(name, help, labelsOf(point.attributes), *sum);
      } else if (histogram != nullptr) {
        mirror_.histogram(name, help, labelsOf(point.attributes), histogram->boundaries_,
                          histogram->counts_, numberOf(histogram->sum_));
      } else if (get_if<DropPoint>(&point.point_data) == nullptr) {
        mirror_.refuse(name,
                       "pages hold no exponential histogram: give it explicit bounds by a view");
      }
    }
  }

  void copySum(std::string name, const std::string& help, const Labels& labels,
               const SumPoint& sum) {
    if (!sum.is_monotonic_) return mirror_.gauge(name, help, labels, numberOf(sum.value_));
    addSuffix(&name, "total");
    mirror_.counter(name, help, labels, numberOf(sum.value_));
  }

  PagesMirror mirror_;
  std::atomic<bool> shut_down_{false};
};

}  // namespace pingloom
