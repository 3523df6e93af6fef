#include "collector/push/otlp_writer.h"

#include <array>
#include <bit>
#include <cstring>
#include <utility>

#include "collector/push/otlp_attribute.h"
#include "collector/push/otlp_exemplar.h"
#include "common/protobuf_fields.h"

namespace pingloom::collector {
namespace {

// Field numbers of the messages in metrics/v1/metrics.proto and common/v1/common.proto.
namespace otlp_fields {
constexpr unsigned kMetrics = 2;  // of ScopeMetrics
constexpr unsigned kName = 1, kDescription = 2, kGauge = 5, kSum = 7, kHistogram = 9, kSummary = 11;
constexpr unsigned kDataPoints = 1, kTemporality = 2, kMonotonic = 3;
constexpr unsigned kCumulative = 2;  // a temporality
constexpr unsigned kTime = 3;        // of all points
constexpr unsigned kAsDouble = 4, kNumberExemplars = 5, kNumberAttributes = 7;
constexpr unsigned kCount = 4, kPointSum = 5, kBucketCounts = 6, kBounds = 7, kExemplars = 8,
                   kAttributes = 9;
// These are fields of a summary's points, whose count and sum are numbered like a histogram's.
constexpr unsigned kQuantiles = 6, kSummaryAttributes = 7;
constexpr unsigned kRank = 1, kRankValue = 2;
}  // namespace otlp_fields

constexpr std::size_t kMaxMetricBytes = 256 * 1024;  // after which a message is ended

}  // namespace

void OtlpWriter::family(std::string_view name, std::string_view type, std::string_view help) {
  endMetric();
  kind_ = Kind::kGauge;
  if (type == "counter") kind_ = Kind::kSum;
  if (type == "histogram") kind_ = Kind::kHistogram;
  if (type == "summary") kind_ = Kind::kSummary;
  head_.clear();
  protobuf::appendBytes(head_, otlp_fields::kName, name);
  if (!help.empty()) protobuf::appendBytes(head_, otlp_fields::kDescription, help);
}

void OtlpWriter::appendAttributes(std::string& point, unsigned field, const LabelText& labels) {
  labels.forEach([&](std::string_view name, std::string_view content) {
    appendOtlpAttribute(point, field, name, content);
  });
}

void OtlpWriter::sample(MetricValue value, const LabelText& labels) {
  addNumber(value, labels, nullptr);
}

void OtlpWriter::sample(MetricValue value, const LabelText& labels,
                        const MetricExemplar& exemplar) {
  addNumber(value, labels, &exemplar);
}

void OtlpWriter::addNumber(MetricValue value, const LabelText& labels,
                           const MetricExemplar* exemplar) {
  std::string point;
  protobuf::appendFixed64(point, otlp_fields::kTime, static_cast<std::uint64_t>(now_utc_));
  protobuf::appendDouble(point, otlp_fields::kAsDouble, value.number());
  if (exemplar != nullptr) appendOtlpExemplar(point, otlp_fields::kNumberExemplars, *exemplar);
  appendAttributes(point, otlp_fields::kNumberAttributes, labels);
  addPoint(point);
}

void OtlpWriter::histogram(const MetricHistogram& histogram, const LabelText& labels) {
  std::string counts;
  std::string bounds;
  std::uint64_t before = 0;
  const std::uint64_t count = histogram.cumulate([&](std::size_t bucket, std::uint64_t below) {
    protobuf::appendFixed64(counts, below - before);
    before = below;
    if (bucket + 1 == histogram.buckets.size()) return;
    protobuf::appendFixed64(bounds, std::bit_cast<std::uint64_t>(histogram.upper(bucket)));
  });
  std::string point;
  protobuf::appendFixed64(point, otlp_fields::kTime, static_cast<std::uint64_t>(now_utc_));
  protobuf::appendFixed64(point, otlp_fields::kCount, count);
  protobuf::appendDouble(point, otlp_fields::kPointSum, histogram.sum);
  protobuf::appendBytes(point, otlp_fields::kBucketCounts, counts);
  protobuf::appendBytes(point, otlp_fields::kBounds, bounds);
  for (const MetricExemplar& one : histogram.exemplars) {
    appendOtlpExemplar(point, otlp_fields::kExemplars, one);
  }
  appendAttributes(point, otlp_fields::kAttributes, labels);
  addPoint(point);
}

void OtlpWriter::summary(const MetricSummary& summary, const LabelText& labels) {
  std::string point;
  protobuf::appendFixed64(point, otlp_fields::kTime, static_cast<std::uint64_t>(now_utc_));
  protobuf::appendFixed64(point, otlp_fields::kCount, summary.count);
  if (summary.sum >= 0) protobuf::appendDouble(point, otlp_fields::kPointSum, summary.sum);
  std::string quantile;
  for (const auto& [rank, value] : summary.quantiles) {
    if (!(value >= 0)) continue;  // NaN, too
    quantile.clear();
    protobuf::appendDouble(quantile, otlp_fields::kRank, rank);
    protobuf::appendDouble(quantile, otlp_fields::kRankValue, value);
    protobuf::appendBytes(point, otlp_fields::kQuantiles, quantile);
  }
  appendAttributes(point, otlp_fields::kSummaryAttributes, labels);
  addPoint(point);
}

void OtlpWriter::addPoint(std::string_view point) {
  protobuf::appendBytes(points_, otlp_fields::kDataPoints, point);
  ++point_count_;
  if (points_.size() >= kMaxMetricBytes) endMetric();
}

void OtlpWriter::endMetric() {
  if (point_count_ == 0) return;
  if (kind_ == Kind::kSum || kind_ == Kind::kHistogram) {
    protobuf::appendNumber(points_, otlp_fields::kTemporality, otlp_fields::kCumulative);
  }
  if (kind_ == Kind::kSum) protobuf::appendNumber(points_, otlp_fields::kMonotonic, 1);
  constexpr std::array<unsigned, 4> kData = {otlp_fields::kGauge, otlp_fields::kSum,
                                             otlp_fields::kHistogram, otlp_fields::kSummary};
  std::string metric = head_;
  protobuf::appendBytes(metric, kData[static_cast<std::size_t>(kind_)], points_);
  std::string field;
  protobuf::appendBytes(field, otlp_fields::kMetrics, metric);
  const std::array<std::uint32_t, 2> header = {point_count_,
                                               static_cast<std::uint32_t>(field.size())};
  records_.append(reinterpret_cast<const char*>(header.data()), sizeof header);
  records_ += field;
  points_.clear();
  point_count_ = 0;
}

std::string OtlpWriter::take() {
  endMetric();
  return std::exchange(records_, "");
}

void forEachMetric(std::string_view records, const std::function<void(const OtlpRecord&)>& use) {
  while (!records.empty()) {
    std::array<std::uint32_t, 2> header{};
    std::memcpy(header.data(), records.data(), sizeof header);
    use({header[0], records.substr(sizeof header, header[1])});
    records.remove_prefix(sizeof header + header[1]);
  }
}

}  // namespace pingloom::collector
