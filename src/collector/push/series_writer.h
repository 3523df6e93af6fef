// Writes metrics as series for remote write: each sample as a record of the labels of its series
// and of its exemplar, both encoded, and its value. A series has the labels `job` and `instance`
// that a scrape would have given it; if it has one of these itself, that becomes exported_job or
// exported_instance. One thread.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/metrics_writer.h"

namespace pingloom::collector {

class SeriesWriter : public MetricsWriter {
 public:
  using MetricsWriter::sample;

  // `instance` is the value of that label.
  explicit SeriesWriter(std::string_view instance) : instance_(instance) {}

  void family(std::string_view name, std::string_view type, std::string_view help) override;
  void sample(MetricValue value, const LabelText& labels) override;
  void sample(MetricValue value, const LabelText& labels, const MetricExemplar& exemplar) override;
  bool hasExemplars() const override { return true; }
  void histogram(const MetricHistogram& histogram, const LabelText& labels) override;
  void summary(const MetricSummary& summary, const LabelText& labels) override;
  std::string take() override { return std::move(records_); }

 private:
  // `further` is a label whose value append() is given; empty: there is none.
  void setLabels(const LabelText& labels, std::string_view further);
  // Appends a record of the labels that were set, with these two in their places.
  void append(std::string_view suffix, std::string_view further, double value,
              const MetricExemplar* exemplar = nullptr);
  void appendLabels(std::string_view suffix, std::string_view further);

  const std::string instance_;
  std::string name_;
  std::string_view further_;
  std::vector<std::pair<std::string, std::string>> labels_;  // in the order of their names
  std::string records_;
};

// A record in what a SeriesWriter has written, which owns the bytes.
struct SeriesRecord {
  std::string_view labels;     // the fields `labels` of a TimeSeries
  std::string_view exemplars;  // the fields `exemplars`
  double value = 0;
};

// Calls `use(record)` for each record.
void forEachRecord(std::string_view records, const std::function<void(const SeriesRecord&)>& use);

}  // namespace pingloom::collector
