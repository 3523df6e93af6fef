// Writes the Prometheus text format. Names are whole ("pingloom_agent_pings_sent_total"); base
// units. A value that is not known is left out, never written as 0. One thread.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

namespace pingloom {

class MetricsText {
 public:
  using Labels = std::initializer_list<std::pair<std::string_view, std::string_view>>;

  // Declares a family; its samples follow directly.
  void family(std::string_view name, std::string_view type, std::string_view help);
  void sample(double value, Labels labels = {});
  // family and one sample without labels.
  void counter(std::string_view name, std::string_view help, std::uint64_t value);
  void gauge(std::string_view name, std::string_view help, double value);
  // process_cpu_seconds_total, process_resident_memory_bytes, process_open_fds of this process.
  void process();

  const std::string& text() const { return text_; }
  static constexpr std::string_view kContentType = "text/plain; version=0.0.4; charset=utf-8";

 private:
  std::string text_;
  std::string family_;
};

}  // namespace pingloom
