#include "common/time.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <cmath>
#include <ctime>
#include <optional>

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
constexpr double kMaxNanos = 3650.0 * 24 * 3600e9;

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
    if (nanos > kMaxNanos) return makeError(entity, "longer than ten years");
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

namespace {

// "dd" and the like: digits where the shape has a 'd', otherwise the same.
bool hasShape(std::string_view text, std::string_view shape) {
  return std::equal(text.begin(), text.end(), shape.begin(), shape.end(), [](char c, char wanted) {
    return wanted == 'd' ? c >= '0' && c <= '9' : c == wanted;
  });
}

// REQUIRES: digits only.
int numberOf(std::string_view digits) {
  int number = 0;
  for (const char digit : digits) number = number * 10 + (digit - '0');
  return number;
}

// "+01:00"; what a local time is ahead of UTC, in minutes.
std::optional<int> readOffset(std::string_view text) {
  if (text == "Z") return 0;
  if (!hasShape(text, "+dd:dd") && !hasShape(text, "-dd:dd")) return std::nullopt;
  const int hours = numberOf(text.substr(1, 2));
  const int minutes = numberOf(text.substr(4, 2));
  if (hours > 23 || minutes > 59) return std::nullopt;
  return (text[0] == '-' ? -1 : 1) * (hours * 60 + minutes);
}

// ".25", or nothing.
std::optional<Nanos> readFraction(std::string_view text) {
  if (text.empty()) return 0;
  constexpr std::string_view kMax = ".ddddddddd";
  if (text.size() < 2 || !hasShape(text, kMax.substr(0, text.size()))) return std::nullopt;
  Nanos rest = 0;
  Nanos unit = kSecond;
  for (const char digit : text.substr(1)) rest += (digit - '0') * (unit /= 10);
  return rest;
}

std::optional<Instant> readInstant(std::string_view text) {
  constexpr std::string_view kShape = "dddd-dd-ddTdd:dd:dd";
  if (!hasShape(text.substr(0, kShape.size()), kShape)) return std::nullopt;
  const std::string_view tail = text.substr(kShape.size());
  const std::size_t zone = std::min(tail.find_first_of("Z+-"), tail.size());
  const auto offset = readOffset(tail.substr(zone));
  const auto rest = readFraction(tail.substr(0, zone));
  using namespace std::chrono;
  const year_month_day date{year(numberOf(text.substr(0, 4))),
                            month(static_cast<unsigned>(numberOf(text.substr(5, 2)))),
                            day(static_cast<unsigned>(numberOf(text.substr(8, 2))))};
  const int hours = numberOf(text.substr(11, 2));
  const int minutes = numberOf(text.substr(14, 2));
  const int seconds = numberOf(text.substr(17, 2));
  if (!offset || !rest || !date.ok() || hours > 23 || minutes > 59 || seconds > 59) {
    return std::nullopt;
  }
  const std::int64_t days = sys_days(date).time_since_epoch().count();
  return Instant{((days * 24 + hours) * 60 + minutes - *offset) * 60 + seconds, *rest};
}

}  // namespace

Nanos Instant::utc() const {
  if (seconds < 0) return 0;
  return seconds > kLatestUtc / kSecond ? kLatestUtc : seconds * kSecond + nanos;
}

Result<Instant> parseInstant(std::string_view text) {
  if (const auto instant = readInstant(text)) return *instant;
  return makeError(std::string(text),
                   "not a time as 2026-11-21T03:12:00Z or 2026-11-21T04:12:00+01:00");
}

Result<Nanos> parseUtc(std::string_view text) {
  const auto instant = parseInstant(text);
  if (!instant) return tl::unexpected(instant.error());
  const Nanos utc = instant->utc();
  if (utc / kSecond == instant->seconds) return utc;
  return makeError(std::string(text), "not a time of the years 1970 to 2199");
}

}  // namespace pingloom
