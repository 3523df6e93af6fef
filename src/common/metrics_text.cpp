#include "common/metrics_text.h"

#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <iterator>
#include <system_error>

#include "common/file.h"

namespace pingloom {
namespace {

void appendEscaped(std::string& out, std::string_view text, bool quotes) {
  for (const char c : text) {
    if (c == '\\') {
      out += "\\\\";
    } else if (c == '\n') {
      out += "\\n";
    } else if (c == '"' && quotes) {
      out += "\\\"";
    } else {
      out += c;
    }
  }
}

}  // namespace

void MetricsText::family(std::string_view name, std::string_view type, std::string_view help) {
  family_ = name;
  text_ += fmt::format("# HELP {} ", name);
  appendEscaped(text_, help, false);
  text_ += fmt::format("\n# TYPE {} {}\n", name, type);
}

void MetricsText::sample(double value, Labels labels) {
  text_ += family_;
  char separator = '{';
  for (const auto& [label, content] : labels) {
    text_ += separator;
    text_ += fmt::format("{}=\"", label);
    appendEscaped(text_, content, true);
    text_ += '"';
    separator = ',';
  }
  if (labels.size() != 0) text_ += '}';
  text_ += fmt::format(" {}\n", value);
}

void MetricsText::counter(std::string_view name, std::string_view help, std::uint64_t value) {
  family(name, "counter", help);
  sample(static_cast<double>(value));
}

void MetricsText::gauge(std::string_view name, std::string_view help, double value) {
  family(name, "gauge", help);
  sample(value);
}

void MetricsText::process() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
  };
  family("process_cpu_seconds_total", "counter", "User and system time used.");
  sample(seconds(usage.ru_utime) + seconds(usage.ru_stime));
  long long pages_total = 0;
  long long pages_resident = 0;
  const auto statm = readFile("/proc/self/statm", 4096);
  if (statm && std::sscanf(statm->c_str(), "%lld %lld", &pages_total, &pages_resident) == 2) {
    gauge("process_resident_memory_bytes", "Resident memory.",
          static_cast<double>(pages_resident) * static_cast<double>(sysconf(_SC_PAGESIZE)));
  }
  std::error_code error;
  const std::filesystem::directory_iterator descriptors("/proc/self/fd", error);
  if (!error) {
    gauge("process_open_fds", "Open file descriptors.",
          static_cast<double>(std::distance(begin(descriptors), end(descriptors))));
  }
}

}  // namespace pingloom
