#include "common/metrics_writer.h"

#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <array>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <iterator>
#include <limits>
#include <system_error>

#include "common/file.h"
#include "common/metrics_label.h"

namespace pingloom {

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
  plain_.append(name).append(value);
  sizes_.emplace_back(name.size(), value.size());
}

double MetricHistogram::bound(std::size_t bucket) const {
  return bucket + 1 < buckets.size() ? upper(bucket) : std::numeric_limits<double>::infinity();
}

const MetricExemplar* MetricHistogram::exemplarIn(double above, double most) const {
  const MetricExemplar* latest = nullptr;
  for (const MetricExemplar& one : exemplars) {
    const bool within = one.value > above && one.value <= most;
    if (within && (latest == nullptr || one.time > latest->time)) latest = &one;
  }
  return latest;
}

void MetricsWriter::sample(MetricValue value, const LabelText& labels,
                           const MetricExemplar& /*exemplar*/) {
  sample(value, labels);
}

void MetricsWriter::sample(MetricValue value, Labels labels) {
  LabelText text;
  for (const auto& [name, content] : labels) text.add(name, content);
  sample(value, text);
}

void MetricsWriter::counter(std::string_view name, std::string_view help, std::uint64_t value) {
  family(name, "counter", help);
  sample(value);
}

void MetricsWriter::gauge(std::string_view name, std::string_view help, MetricValue value) {
  family(name, "gauge", help);
  sample(value);
}

void MetricsWriter::process() {
  for (const ProcessMetric& metric : processMetrics()) {
    family(metric.name, metric.type, metric.help);
    sample(metric.value);
  }
}

}  // namespace pingloom
