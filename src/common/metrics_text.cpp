#include "common/metrics_text.h"

#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <array>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <iterator>
#include <system_error>

#include "common/file.h"

namespace pingloom {
namespace {

constexpr std::string_view kTotal = "_total";
constexpr std::string_view kInfo = "_info";

void appendEscaped(std::string& out, std::string_view text, bool quotes) {
  for (const char c : text) {
    if (c == '\n') {
      out += "\\n";
      continue;
    }
    if (c == '\\' || (c == '"' && quotes)) out += '\\';
    out += c;
  }
}

void appendLabel(std::string& out, std::string_view name, std::string_view value) {
  out += name;
  out += "=\"";
  appendEscaped(out, value, true);
  out += '"';
}

std::string_view withoutSuffix(std::string_view name, std::string_view suffix) {
  if (name.size() > suffix.size() && name.ends_with(suffix)) name.remove_suffix(suffix.size());
  return name;
}

}  // namespace

std::vector<ProcessMetric> processMetrics() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
  };
  std::vector<ProcessMetric> metrics = {{"process_cpu_seconds_total", "counter",
                                         "User and system time used.",
                                         seconds(usage.ru_utime) + seconds(usage.ru_stime)}};
  long long pages_total = 0;
  long long pages_resident = 0;
  const auto statm = readFile("/proc/self/statm", 4096);
  if (statm && std::sscanf(statm->c_str(), "%lld %lld", &pages_total, &pages_resident) == 2) {
    metrics.push_back(
        {"process_resident_memory_bytes", "gauge", "Resident memory.",
         static_cast<double>(pages_resident) * static_cast<double>(sysconf(_SC_PAGESIZE))});
  }
  std::error_code error;
  const std::filesystem::directory_iterator descriptors("/proc/self/fd", error);
  if (!error) {
    metrics.push_back({"process_open_fds", "gauge", "Open file descriptors.",
                       static_cast<double>(std::distance(begin(descriptors), end(descriptors)))});
  }
  return metrics;
}

void MetricValue::appendTo(std::string& text) const {
  if (is_count_) {
    const fmt::format_int digits(count_);
    text.append(digits.data(), digits.size());
  } else if (std::isnan(number_)) {
    text += "NaN";
  } else if (std::isinf(number_)) {
    text += number_ > 0 ? "+Inf" : "-Inf";
  } else {
    std::array<char, 32> digits;  // the shortest form of a double has at most 24
    text.append(digits.data(), fmt::format_to(digits.data(), "{}", number_));
  }
}

void LabelText::add(std::string_view name, std::string_view value) {
  if (!text_.empty()) text_ += ',';
  appendLabel(text_, name, value);
}

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
  value.appendTo(text_);
  text_ += '\n';
}

void MetricsText::sample(MetricValue value, const LabelText& labels) {
  line(suffix_, value, labels);
}

void MetricsText::line(std::string_view suffix, MetricValue value, const LabelText& labels) {
  beginLine(suffix);
  if (!labels.text().empty()) {
    text_ += '{';
    text_ += labels.text();
    text_ += '}';
  }
  text_ += ' ';
  value.appendTo(text_);
  text_ += '\n';
}

void MetricsText::bucket(double upper, std::uint64_t count, const LabelText& labels) {
  beginLine("_bucket{");
  text_ += labels.text();
  text_ += labels.text().empty() ? "le=\"" : ",le=\"";
  MetricValue(upper).appendTo(text_);
  text_ += "\"} ";
  MetricValue(count).appendTo(text_);
  text_ += '\n';
}

void MetricsText::counter(std::string_view name, std::string_view help, std::uint64_t value) {
  family(name, "counter", help);
  sample(value);
}

void MetricsText::gauge(std::string_view name, std::string_view help, MetricValue value) {
  family(name, "gauge", help);
  sample(value);
}

void MetricsText::process() {
  for (const ProcessMetric& metric : processMetrics()) {
    family(metric.name, metric.type, metric.help);
    sample(metric.value);
  }
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
