// What pingloom/opentelemetry_cpp.hpp and its example use of opentelemetry-cpp, declared by its
// published interface (1.9 and later, namespaces and names only). Debian 12 has no package of the
// library. The headers beside this one stand for the library's that have these declarations.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace opentelemetry {
inline namespace v1 {

namespace nostd {
using std::get;
using std::get_if;
using std::holds_alternative;
using std::shared_ptr;
using std::string_view;
using std::unique_ptr;
using std::variant;
using std::visit;
}  // namespace nostd

namespace common {
using SystemTimestamp = std::chrono::system_clock::time_point;
}  // namespace common

namespace sdk {

namespace common {
enum class ExportResult {
  kSuccess = 0,
  kFailure = 1,
  kFailureFull = 2,
  kFailureInvalidArgument = 3
};
using OwnedAttributeValue =
    nostd::variant<bool, std::int32_t, std::uint32_t, std::int64_t, double, std::string,
                   std::vector<bool>, std::vector<std::int32_t>, std::vector<std::uint32_t>,
                   std::vector<std::int64_t>, std::vector<double>, std::vector<std::string>,
                   std::uint64_t, std::vector<std::uint64_t>, std::vector<std::uint8_t>>;
class OrderedAttributeMap : public std::map<std::string, OwnedAttributeValue> {
 public:
  using map::map;
};
}  // namespace common

namespace resource {
class Resource;
}  // namespace resource
namespace instrumentationscope {
class InstrumentationScope;
}  // namespace instrumentationscope

namespace metrics {

enum class InstrumentType {
  kCounter,
  kHistogram,
  kUpDownCounter,
  kObservableCounter,
  kObservableGauge,
  kObservableUpDownCounter,
  kGauge
};
enum class InstrumentValueType { kInt, kLong, kFloat, kDouble };
enum class AggregationTemporality { kUnspecified, kDelta, kCumulative };
struct InstrumentDescriptor {
  std::string name_;
  std::string description_;
  std::string unit_;
  InstrumentType type_;
  InstrumentValueType value_type_;
};

using ValueType = nostd::variant<std::int64_t, double>;
class SumPointData {
 public:
  ValueType value_ = {};
  bool is_monotonic_ = true;
};
class LastValuePointData {
 public:
  ValueType value_ = {};
  bool is_lastvalue_valid_ = {};
  opentelemetry::common::SystemTimestamp sample_ts_ = {};
};
class HistogramPointData {
 public:
  std::vector<double> boundaries_ = {};
  ValueType sum_ = {};
  ValueType min_ = {};
  ValueType max_ = {};
  std::vector<std::uint64_t> counts_ = {};
  std::uint64_t count_ = {};
  bool record_min_max_ = true;
};
class Base2ExponentialHistogramPointData {};
class DropPointData {};

using PointAttributes = sdk::common::OrderedAttributeMap;
using PointType =
    nostd::variant<SumPointData, HistogramPointData, Base2ExponentialHistogramPointData,
                   LastValuePointData, DropPointData>;
struct PointDataAttributes {
  PointAttributes attributes;
  PointType point_data;
};
class MetricData {
 public:
  InstrumentDescriptor instrument_descriptor;
  AggregationTemporality aggregation_temporality;
  opentelemetry::common::SystemTimestamp start_ts;
  opentelemetry::common::SystemTimestamp end_ts;
  std::vector<PointDataAttributes> point_data_attr_;
};
struct ScopeMetrics {
  const instrumentationscope::InstrumentationScope* scope_ = nullptr;
  std::vector<MetricData> metric_data_;
};
struct ResourceMetrics {
  const resource::Resource* resource_ = nullptr;
  std::vector<ScopeMetrics> scope_metric_data_;
};

class PushMetricExporter {
 public:
  virtual ~PushMetricExporter() = default;
  virtual sdk::common::ExportResult Export(const ResourceMetrics& data) noexcept = 0;
  virtual AggregationTemporality GetAggregationTemporality(InstrumentType type) const noexcept = 0;
  virtual bool ForceFlush(
      std::chrono::microseconds timeout = (std::chrono::microseconds::max)()) noexcept = 0;
  virtual bool Shutdown(
      std::chrono::microseconds timeout = std::chrono::microseconds(0)) noexcept = 0;
};

}  // namespace metrics
}  // namespace sdk
}  // namespace v1
}  // namespace opentelemetry
