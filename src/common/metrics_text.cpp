#include "common/metrics_text.h"

#include <fmt/format.h>

#include <iterator>

#include "common/metrics_label.h"

namespace pingloom {
namespace {

constexpr std::string_view kTotal = "_total";
constexpr std::string_view kInfo = "_info";

std::string_view withoutSuffix(std::string_view name, std::string_view suffix) {
  if (name.size() > suffix.size() && name.ends_with(suffix)) name.remove_suffix(suffix.size());
  return name;
}

}  // namespace

void MetricsText::family(std::string_view name, std::string_view type, std::string_view help) {
  const bool open = format_ == MetricsFormat::kOpenMetrics;
  family_ = familyName(name, type, format_);
  suffix_ = {};
  if (open && type == "counter") suffix_ = kTotal;
  if (open && type == "info") suffix_ = kInfo;
  if (!help.empty()) {
    text_ += "# HELP ";
    text_ += family_;
    text_ += ' ';
    appendEscaped(text_, help, open);
    text_ += '\n';
  }
  text_ += "# TYPE ";
  text_ += family_;
  text_ += ' ';
  text_ += type == "info" && !open ? "gauge" : type;
  text_ += '\n';
}

void MetricsText::beginLine(std::string_view suffix) {
  text_ += family_;
  text_ += suffix;
}

void MetricsText::sample(MetricValue value, Labels labels) {
  beginLine(suffix_);
  char separator = '{';
  for (const auto& [name, content] : labels) {
    text_ += separator;
    appendLabel(text_, name, content);
    separator = ',';
  }
  if (labels.size() != 0) text_ += '}';
  text_ += ' ';
  endLine(value);
}

void MetricsText::sample(MetricValue value, const LabelText& labels) {
  line(suffix_, value, labels);
}

void MetricsText::sample(MetricValue value, const LabelText& labels,
                         const MetricExemplar& exemplar) {
  line(suffix_, value, labels, &exemplar);
}

void MetricsText::endLine(MetricValue value, const MetricExemplar* exemplar) {
  value.appendTo(text_);
  if (exemplar != nullptr && hasExemplars()) {
    text_ += " # {";
    text_ += exemplar->labels.text();
    text_ += "} ";
    MetricValue(exemplar->value).appendTo(text_);
    fmt::format_to(std::back_inserter(text_), " {}.{:03}", exemplar->time / kSecond,
                   exemplar->time % kSecond / kMillisecond);
  }
  text_ += '\n';
}

void MetricsText::line(std::string_view suffix, MetricValue value, const LabelText& labels,
                       const MetricExemplar* exemplar) {
  beginLine(suffix);
  if (!labels.text().empty()) {
    text_ += '{';
    text_ += labels.text();
    text_ += '}';
  }
  text_ += ' ';
  endLine(value, exemplar);
}

void MetricsText::histogram(const MetricHistogram& histogram, const LabelText& labels) {
  const std::uint64_t count =
      histogram.cumulate([&](std::size_t i, std::uint64_t below, const MetricExemplar* exemplar) {
        line("_bucket", below, labels, "le", histogram.bound(i), exemplar);
      });
  line("_sum", histogram.sum, labels);
  line("_count", count, labels);
}

void MetricsText::summary(const MetricSummary& summary, const LabelText& labels) {
  const bool open = format_ == MetricsFormat::kOpenMetrics;
  for (const auto& [rank, value] : summary.quantiles) {
    if (!open || !(value < 0)) line("", value, labels, "quantile", rank);
  }
  if (!open || summary.sum >= 0) line("_sum", summary.sum, labels);
  line("_count", summary.count, labels);
}

void MetricsText::line(std::string_view suffix, MetricValue value, const LabelText& labels,
                       std::string_view further, double number, const MetricExemplar* exemplar) {
  beginLine(suffix);
  text_ += '{';
  text_ += labels.text();
  if (!labels.text().empty()) text_ += ',';
  text_ += further;
  text_ += "=\"";
  MetricValue(number).appendTo(text_);
  text_ += "\"} ";
  endLine(value, exemplar);
}

void MetricsText::finish() {
  if (format_ == MetricsFormat::kOpenMetrics) text_ += "# EOF\n";
}

std::string_view MetricsText::contentType(MetricsFormat format) {
  return format == MetricsFormat::kOpenMetrics
             ? "application/openmetrics-text; version=1.0.0; charset=utf-8"
             : "text/plain; version=0.0.4; charset=utf-8";
}

MetricsFormat MetricsText::formatFor(std::string_view accept) {
  return accept.find("application/openmetrics-text") != std::string_view::npos
             ? MetricsFormat::kOpenMetrics
             : MetricsFormat::kPrometheus;
}

std::string_view MetricsText::familyName(std::string_view name, std::string_view type,
                                         MetricsFormat format) {
  if (format == MetricsFormat::kPrometheus) return name;
  if (type == "counter") return withoutSuffix(name, kTotal);
  if (type == "info") return withoutSuffix(name, kInfo);
  return name;
}

}  // namespace pingloom
