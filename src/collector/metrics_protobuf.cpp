#include "collector/metrics_protobuf.h"

#include <cstdint>
#include <utility>

#include "collector/label_pair.h"
#include "collector/native_buckets.h"
#include "common/protobuf_fields.h"
#include "http/media_type.h"

namespace pingloom::collector {
namespace {

// Field numbers of the messages in client_model's metrics.proto.
namespace family_fields {
constexpr unsigned kName = 1, kHelp = 2, kType = 3, kMetric = 4;
constexpr unsigned kTypeCounter = 0, kTypeGauge = 1, kTypeSummary = 2, kTypeHistogram = 4;
}  // namespace family_fields
namespace metric_fields {
constexpr unsigned kLabel = 1, kGauge = 2, kCounter = 3, kSummary = 4, kHistogram = 7;
constexpr unsigned kValue = 1;  // of Gauge and Counter
constexpr unsigned kCounterExemplar = 2;
}  // namespace metric_fields
namespace histogram_fields {
constexpr unsigned kCount = 1, kSum = 2, kBucket = 3, kSchema = 5, kZeroThreshold = 6,
                   kZeroCount = 7, kPositiveSpan = 12, kPositiveDelta = 13, kExemplars = 16;
constexpr unsigned kBucketCount = 1, kBucketBound = 2, kBucketExemplar = 3;
constexpr unsigned kSpanOffset = 1, kSpanLength = 2;
}  // namespace histogram_fields
namespace exemplar_fields {
constexpr unsigned kLabel = 1, kValue = 2, kTimestamp = 3;
constexpr unsigned kSeconds = 1, kNanos = 2;  // of google.protobuf.Timestamp
}  // namespace exemplar_fields
namespace summary_fields {
constexpr unsigned kCount = 1, kSum = 2, kQuantile = 3;
constexpr unsigned kRank = 1, kValue = 2;
}  // namespace summary_fields

void appendLabels(std::string& out, unsigned field, const LabelText& labels) {
  std::string scratch;
  labels.forEach([&](std::string_view name, std::string_view content) {
    appendLabelPair(out, field, name, content, scratch);
  });
}

void appendExemplar(std::string& out, unsigned field, const MetricExemplar& from) {
  std::string time;
  protobuf::appendNumber(time, exemplar_fields::kSeconds,
                         static_cast<std::uint64_t>(from.time / kSecond));
  protobuf::appendNumber(time, exemplar_fields::kNanos,
                         static_cast<std::uint64_t>(from.time % kSecond));
  std::string made;
  appendLabels(made, exemplar_fields::kLabel, from.labels);
  protobuf::appendDouble(made, exemplar_fields::kValue, from.value);
  protobuf::appendBytes(made, exemplar_fields::kTimestamp, time);
  protobuf::appendBytes(out, field, made);
}

// Spans are runs of buckets that follow each other, each with its distance to the previous run.
void appendNative(std::string& out, const MetricHistogram& from) {
  const NativeBuckets native = nativeBuckets(from);
  protobuf::appendSigned(out, histogram_fields::kSchema, *from.native_schema);
  protobuf::appendDouble(out, histogram_fields::kZeroThreshold, native.zero_threshold);
  protobuf::appendNumber(out, histogram_fields::kZeroCount, native.zero_count);
  std::string span;
  std::int64_t end = 0;  // of the previous run
  for (std::size_t i = 0; i < native.counts.size();) {
    const std::int64_t begin = native.counts[i].first;
    std::size_t length = 1;
    while (i + length < native.counts.size() &&
           native.counts[i + length].first == begin + static_cast<std::int64_t>(length)) {
      ++length;
    }
    span.clear();
    protobuf::appendSigned(span, histogram_fields::kSpanOffset, begin - end);
    protobuf::appendNumber(span, histogram_fields::kSpanLength, length);
    protobuf::appendBytes(out, histogram_fields::kPositiveSpan, span);
    i += length;
    end = begin + static_cast<std::int64_t>(length);
  }
  std::uint64_t previous = 0;
  for (const auto& [index, count] : native.counts) {
    protobuf::appendSigned(out, histogram_fields::kPositiveDelta,
                           static_cast<std::int64_t>(count - previous));
    previous = count;
  }
  for (const MetricExemplar& one : from.exemplars) {
    appendExemplar(out, histogram_fields::kExemplars, one);
  }
}

}  // namespace

void MetricsProtobuf::family(std::string_view name, std::string_view type, std::string_view help) {
  endFamily();
  is_counter_ = type == "counter";
  unsigned number = family_fields::kTypeGauge;
  if (is_counter_) number = family_fields::kTypeCounter;
  if (type == "histogram") number = family_fields::kTypeHistogram;
  if (type == "summary") number = family_fields::kTypeSummary;
  protobuf::appendBytes(family_, family_fields::kName, name);
  if (!help.empty()) protobuf::appendBytes(family_, family_fields::kHelp, help);
  protobuf::appendNumber(family_, family_fields::kType, number);
}

void MetricsProtobuf::addMetric(const LabelText& labels, unsigned field, std::string_view value) {
  std::string made;
  appendLabels(made, metric_fields::kLabel, labels);
  protobuf::appendBytes(made, field, value);
  protobuf::appendBytes(family_, family_fields::kMetric, made);
}

void MetricsProtobuf::sample(MetricValue value, const LabelText& labels) {
  std::string made;
  protobuf::appendDouble(made, metric_fields::kValue, value.number());
  addMetric(labels, is_counter_ ? metric_fields::kCounter : metric_fields::kGauge, made);
}

void MetricsProtobuf::sample(MetricValue value, const LabelText& labels,
                             const MetricExemplar& exemplar) {
  if (!is_counter_) return sample(value, labels);
  std::string made;
  protobuf::appendDouble(made, metric_fields::kValue, value.number());
  appendExemplar(made, metric_fields::kCounterExemplar, exemplar);
  addMetric(labels, metric_fields::kCounter, made);
}

void MetricsProtobuf::histogram(const MetricHistogram& from, const LabelText& labels) {
  std::string made;
  std::string bucket;
  const std::uint64_t count =
      from.cumulate([&](std::size_t i, std::uint64_t below, const MetricExemplar* exemplar) {
        bucket.clear();
        protobuf::appendNumber(bucket, histogram_fields::kBucketCount, below);
        protobuf::appendDouble(bucket, histogram_fields::kBucketBound, from.bound(i));
        if (exemplar != nullptr) {
          appendExemplar(bucket, histogram_fields::kBucketExemplar, *exemplar);
        }
        protobuf::appendBytes(made, histogram_fields::kBucket, bucket);
      });
  protobuf::appendNumber(made, histogram_fields::kCount, count);
  protobuf::appendDouble(made, histogram_fields::kSum, from.sum);
  // Prometheus reads counts and their differences as signed numbers, and one that is negative makes
  // it refuse the whole scrape. A count that large is an application's mistake.
  if (from.native_schema && count <= INT64_MAX) appendNative(made, from);
  addMetric(labels, metric_fields::kHistogram, made);
}

void MetricsProtobuf::summary(const MetricSummary& from, const LabelText& labels) {
  std::string made;
  protobuf::appendNumber(made, summary_fields::kCount, from.count);
  protobuf::appendDouble(made, summary_fields::kSum, from.sum);
  std::string quantile;
  for (const auto& [rank, value] : from.quantiles) {
    quantile.clear();
    protobuf::appendDouble(quantile, summary_fields::kRank, rank);
    protobuf::appendDouble(quantile, summary_fields::kValue, value);
    protobuf::appendBytes(made, summary_fields::kQuantile, quantile);
  }
  addMetric(labels, metric_fields::kSummary, made);
}

void MetricsProtobuf::endFamily() {
  if (family_.empty()) return;
  protobuf::appendVarint(done_, family_.size());
  done_ += family_;
  family_.clear();
}

std::string MetricsProtobuf::take() {
  endFamily();
  return std::exchange(done_, "");
}

bool MetricsProtobuf::isWanted(std::string_view accept) {
  constexpr std::string_view kType = "application/vnd.google.protobuf";
  return accept.find("proto=io.prometheus.client.MetricFamily") != std::string_view::npos &&
         accept.find("encoding=delimited") != std::string_view::npos &&
         http::prefers(accept, kType, "application/openmetrics-text") &&
         http::prefers(accept, kType, "text/plain");
}

}  // namespace pingloom::collector
