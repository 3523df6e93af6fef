#include "collector/push/series_writer.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>

#include "collector/label_pair.h"
#include "common/protobuf_fields.h"

namespace pingloom::collector {
namespace {

constexpr std::string_view kJob = "pingloom-collector";
constexpr std::string_view kNameLabel = "__name__";

// Fields of Prometheus' messages TimeSeries and Exemplar (prompb/types.proto).
constexpr unsigned kTimeSeriesLabels = 1;
constexpr unsigned kTimeSeriesExemplars = 3;
constexpr unsigned kExemplarLabels = 1, kExemplarValue = 2, kExemplarTimestamp = 3;

// The sizes of a record's labels and exemplars, which follow it.
using RecordHead = std::array<std::uint32_t, 2>;

void appendPlain(std::string& out, const void* bytes, std::size_t size) {
  out.append(static_cast<const char*>(bytes), size);
}

void appendExemplarField(std::string& out, const MetricExemplar& exemplar) {
  std::string made;
  std::string scratch;
  exemplar.labels.forEach([&](std::string_view name, std::string_view value) {
    appendLabelPair(made, kExemplarLabels, name, value, scratch);
  });
  protobuf::appendDouble(made, kExemplarValue, exemplar.value);
  protobuf::appendNumber(made, kExemplarTimestamp,
                         static_cast<std::uint64_t>(exemplar.time / kMillisecond));
  protobuf::appendBytes(out, kTimeSeriesExemplars, made);
}

}  // namespace

void SeriesWriter::family(std::string_view name, std::string_view /*type*/,
                          std::string_view /*help*/) {
  name_ = name;
}

void SeriesWriter::setLabels(const LabelText& labels, std::string_view further) {
  further_ = further;
  labels_.clear();
  labels_.emplace_back(kNameLabel, "");
  labels_.emplace_back("job", kJob);
  labels_.emplace_back("instance", instance_);
  if (!further.empty()) labels_.emplace_back(further, "");
  const auto has = [this](std::string_view name) {
    return std::any_of(labels_.begin(), labels_.end(),
                       [&](const auto& label) { return label.first == name; });
  };
  labels.forEach([&](std::string_view name, std::string_view value) {
    std::string free(name);
    while (has(free)) free.insert(0, "exported_");
    labels_.emplace_back(std::move(free), value);
  });
  std::sort(labels_.begin(), labels_.end());
}

void SeriesWriter::append(std::string_view suffix, std::string_view further, double value,
                          const MetricExemplar* exemplar) {
  const std::size_t begin = records_.size();
  RecordHead head{};
  appendPlain(records_, head.data(), sizeof head);
  appendLabels(suffix, further);
  head[0] = static_cast<std::uint32_t>(records_.size() - begin - sizeof head);
  if (exemplar != nullptr) appendExemplarField(records_, *exemplar);
  head[1] = static_cast<std::uint32_t>(records_.size() - begin - sizeof head - head[0]);
  std::memcpy(records_.data() + begin, head.data(), sizeof head);
  appendPlain(records_, &value, sizeof value);
}

void SeriesWriter::appendLabels(std::string_view suffix, std::string_view further) {
  std::string scratch;
  for (const auto& [name, content] : labels_) {
    std::string_view shown = content;
    std::string whole;
    if (name == kNameLabel) {
      whole.append(name_).append(suffix);
      shown = whole;
    }
    if (name == further_) shown = further;
    if (shown.empty()) continue;  // that is the same as no label
    appendLabelPair(records_, kTimeSeriesLabels, name, shown, scratch);
  }
}

void SeriesWriter::sample(MetricValue value, const LabelText& labels) {
  setLabels(labels, "");
  append("", "", value.number());
}

void SeriesWriter::sample(MetricValue value, const LabelText& labels,
                          const MetricExemplar& exemplar) {
  setLabels(labels, "");
  append("", "", value.number(), &exemplar);
}

void SeriesWriter::histogram(const MetricHistogram& histogram, const LabelText& labels) {
  setLabels(labels, "le");
  const std::uint64_t count = histogram.cumulate(
      [&](std::size_t bucket, std::uint64_t below, const MetricExemplar* exemplar) {
        std::string le;
        MetricValue(histogram.bound(bucket)).appendTo(le);
        append("_bucket", le, static_cast<double>(below), exemplar);
      });
  append("_sum", "", histogram.sum);
  append("_count", "", static_cast<double>(count));
}

void SeriesWriter::summary(const MetricSummary& summary, const LabelText& labels) {
  setLabels(labels, "quantile");
  for (const auto& [rank, value] : summary.quantiles) {
    std::string quantile;
    MetricValue(rank).appendTo(quantile);
    append("", quantile, value);
  }
  append("_sum", "", summary.sum);
  append("_count", "", static_cast<double>(summary.count));
}

void forEachRecord(std::string_view records, const std::function<void(const SeriesRecord&)>& use) {
  while (!records.empty()) {
    RecordHead head{};
    SeriesRecord record;
    std::memcpy(head.data(), records.data(), sizeof head);
    records.remove_prefix(sizeof head);
    record.labels = records.substr(0, head[0]);
    record.exemplars = records.substr(head[0], head[1]);
    records.remove_prefix(std::size_t{head[0]} + head[1]);
    std::memcpy(&record.value, records.data(), sizeof record.value);
    records.remove_prefix(sizeof record.value);
    use(record);
  }
}

}  // namespace pingloom::collector
