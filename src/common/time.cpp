#include "common/time.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <chrono>
#include <cmath>
#include <ctime>

namespace pingloom {
namespace {

struct Unit {
  std::string_view name;
  Nanos nanos;
};
// Longest first: formatDuration takes the first that divides.
constexpr std::array<Unit, 7> kUnits = {{{"d", 24 * kHour},
                                         {"h", kHour},
                                         {"m", kMinute},
                                         {"s", kSecond},
                                         {"ms", kMillisecond},
                                         {"us", kMicrosecond},
                                         {"ns", 1}}};
constexpr double kLongestNanos = 3650.0 * 24 * 3600e9;

Nanos read(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);
  return now.tv_sec * kSecond + now.tv_nsec;
}

}  // namespace

Nanos monotonicNow() { return read(CLOCK_MONOTONIC); }
Nanos utcNow() { return read(CLOCK_REALTIME); }

Result<Nanos> parseDuration(std::string_view text) {
  const std::string entity = "duration '" + std::string(text) + "'";
  double number = 0;
  auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), number, std::chars_format::fixed);
  if (error != std::errc())
    return makeError(entity, "not a number with a unit, such as 200ms or 10s");
  const std::string_view suffix(end, static_cast<std::size_t>(text.data() + text.size() - end));
  for (const Unit& unit : kUnits) {
    if (suffix != unit.name) continue;
    const double nanos = number * static_cast<double>(unit.nanos);
    if (!(nanos >= 1)) return makeError(entity, "must be longer than zero");
    if (nanos > kLongestNanos) return makeError(entity, "longer than ten years");
    return std::llround(nanos);
  }
  return makeError(entity, suffix.empty() ? "has no unit (ns, us, ms, s, m, h, d)"
                                          : "unknown unit; use ns, us, ms, s, m, h or d");
}

std::string formatDuration(Nanos duration) {
  if (duration == 0) return "0s";
  for (const Unit& unit : kUnits) {
    if (duration % unit.nanos == 0) return fmt::format("{}{}", duration / unit.nanos, unit.name);
  }
  return fmt::format("{}ns", duration);
}

std::string humanNanos(Nanos duration) {
  const auto value = static_cast<double>(duration);
  const double magnitude = std::abs(value);
  auto scaled = [&](double unit, const char* name) {
    const double shown = value / unit;
    const int digits = std::abs(shown) < 9.995 ? 2 : std::abs(shown) < 99.95 ? 1 : 0;
    return fmt::format("{:.{}f} {}", shown, digits, name);
  };
  if (magnitude < 1e3) return fmt::format("{} ns", duration);
  if (magnitude < 999.5e3) return scaled(1e3, "us");
  if (magnitude < 999.5e6) return scaled(1e6, "ms");
  return scaled(1e9, "s");
}

std::string formatUtc(Nanos utc) {
  Nanos seconds = utc / kSecond;
  Nanos rest = utc % kSecond;
  if (rest < 0) {
    rest += kSecond;
    --seconds;
  }
  const std::time_t when = seconds;
  std::tm parts{};
  gmtime_r(&when, &parts);
  const Nanos millis = rest / kMillisecond;
  std::string text =
      fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}", parts.tm_year + 1900, parts.tm_mon + 1,
                  parts.tm_mday, parts.tm_hour, parts.tm_min, parts.tm_sec);
  if (millis != 0) text += fmt::format(".{:03}", millis);
  return text + "Z";
}

Result<Nanos> parseUtc(std::string_view text) {
  const auto malformed = [&] {
    return makeError(std::string(text), "not a time as 2026-11-21T03:12:00Z");
  };
  constexpr std::string_view kShape = "dddd-dd-ddTdd:dd:dd";
  if (text.size() <= kShape.size() || text.back() != 'Z') return malformed();
  std::array<int, 6> fields{};  // year, month, day, hours, minutes, seconds
  std::size_t field = 0;
  for (std::size_t i = 0; i < kShape.size(); ++i) {
    const bool digit = text[i] >= '0' && text[i] <= '9';
    if (kShape[i] != 'd') {
      if (text[i] != kShape[i]) return malformed();
      ++field;
    } else if (digit) {
      fields[field] = fields[field] * 10 + (text[i] - '0');
    } else {
      return malformed();
    }
  }
  Nanos rest = 0;
  const std::string_view fraction = text.substr(kShape.size(), text.size() - kShape.size() - 1);
  if (!fraction.empty()) {
    if (fraction[0] != '.' || fraction.size() < 2 || fraction.size() > 10) return malformed();
    Nanos unit = kSecond;
    for (const char digit : fraction.substr(1)) {
      if (digit < '0' || digit > '9') return malformed();
      rest += (digit - '0') * (unit /= 10);
    }
  }
  using namespace std::chrono;
  const year_month_day date{year(fields[0]), month(static_cast<unsigned>(fields[1])),
                            day(static_cast<unsigned>(fields[2]))};
  if (!date.ok() || fields[0] < 1970 || fields[0] > 2199 || fields[3] > 23 || fields[4] > 59 ||
      fields[5] > 59) {
    return malformed();
  }
  const Nanos days = sys_days(date).time_since_epoch().count();
  return ((days * 24 + fields[3]) * 60 + fields[4]) * kMinute + fields[5] * kSecond + rest;
}

}  // namespace pingloom
