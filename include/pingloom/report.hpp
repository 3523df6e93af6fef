// Reports of telemetry for C++17 applications: pingloom/report.h with an owner.
//
//   pingloom::Reporter reporter;
//   reporter.keyWrite(1, "queue-7", value);
//
// A report that is refused because of its length throws nothing: the functions return false, and
// the report is counted as skipped.
#pragma once

#include <pingloom/report.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <system_error>

namespace pingloom {

class Reporter {
 public:
  // The meaning of the arguments is that of pingloom_reporter_options; an empty translator stands
  // for the default, and an empty key_file for none. Throws std::system_error.
  explicit Reporter(const std::string& translator = "", std::uint32_t number = 0,
                    std::size_t datagram = 0, bool forget = false,
                    const std::string& key_file = "") {
    pingloom_reporter_options options{};
    options.translator = translator.empty() ? nullptr : translator.c_str();
    options.reporter = number;
    options.datagram = datagram;
    options.forget = forget ? 1 : 0;
    options.key_file = key_file.empty() ? nullptr : key_file.c_str();
    pingloom_reporter* made = nullptr;
    if (const int error = pingloom_reporter_open(&options, &made)) {
      throw std::system_error(error, std::generic_category(), "pingloom reporter");
    }
    reporter_.reset(made);
  }

  // Keys and values are bytes.
  bool keyWrite(std::uint16_t table, std::string_view key, std::string_view value) {
    return pingloom_report_key_write(reporter_.get(), table, key.data(), key.size(), value.data(),
                                     value.size()) == 0;
  }
  bool append(std::uint16_t table, std::string_view entry, std::uint32_t list = 0) {
    return pingloom_report_append(reporter_.get(), table, list, entry.data(), entry.size()) == 0;
  }
  bool increment(std::uint16_t table, std::string_view key, std::uint64_t amount = 1) {
    return pingloom_report_increment(reporter_.get(), table, key.data(), key.size(), amount) == 0;
  }
  bool postcard(std::uint16_t table, std::string_view key, std::uint8_t hop, std::uint8_t hops,
                std::string_view value) {
    return pingloom_report_postcard(reporter_.get(), table, key.data(), key.size(), hop, hops,
                                    value.data(), value.size()) == 0;
  }
  void flush() { pingloom_reporter_flush(reporter_.get()); }
  pingloom_reporter_status status() const {
    pingloom_reporter_status status{};
    pingloom_reporter_get_status(reporter_.get(), &status);
    return status;
  }

 private:
  struct Close {
    void operator()(pingloom_reporter* reporter) const { pingloom_reporter_close(reporter); }
  };
  std::unique_ptr<pingloom_reporter, Close> reporter_;
};

}  // namespace pingloom
