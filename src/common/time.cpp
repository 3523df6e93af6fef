#include "common/time.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <ctime>
#include <optional>

namespace pingloom {
namespace {

Nanos read(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);
  return now.tv_sec * kSecond + now.tv_nsec;
}

}  // namespace

Nanos monotonicNow() { return read(CLOCK_MONOTONIC); }
Nanos utcNow() { return read(CLOCK_REALTIME); }

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

// Tells whether the text has digits where the shape has a 'd', and is otherwise equal.
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

// Reads an offset such as "+01:00" in minutes ahead of UTC.
std::optional<int> readOffset(std::string_view text) {
  if (text == "Z") return 0;
  if (!hasShape(text, "+dd:dd") && !hasShape(text, "-dd:dd")) return std::nullopt;
  const int hours = numberOf(text.substr(1, 2));
  const int minutes = numberOf(text.substr(4, 2));
  if (hours > 23 || minutes > 59) return std::nullopt;
  return (text[0] == '-' ? -1 : 1) * (hours * 60 + minutes);
}

// Reads a fraction such as ".25", or nothing.
std::optional<Nanos> readFraction(std::string_view text) {
  if (text.empty()) return 0;
  constexpr std::string_view kMax = ".ddddddddd";
  if (text.size() < 2 || !hasShape(text, kMax.substr(0, text.size()))) return std::nullopt;
  Nanos rest = 0;
  Nanos unit = kSecond;
  for (const char digit : text.substr(1)) rest += (digit - '0') * (unit /= 10);
  return rest;
}

std::optional<CalendarTime> readCalendarTime(std::string_view text) {
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
  return CalendarTime{((days * 24 + hours) * 60 + minutes - *offset) * 60 + seconds, *rest};
}

}  // namespace

Nanos CalendarTime::utc() const {
  if (seconds < 0) return 0;
  return seconds > kLatestUtc / kSecond ? kLatestUtc : seconds * kSecond + nanos;
}

Result<CalendarTime> parseCalendarTime(std::string_view text) {
  if (const auto instant = readCalendarTime(text)) return *instant;
  return makeError(std::string(text),
                   "not a time as 2026-11-21T03:12:00Z or 2026-11-21T04:12:00+01:00");
}

Result<Nanos> parseUtc(std::string_view text) {
  const auto instant = parseCalendarTime(text);
  if (!instant) return tl::unexpected(instant.error());
  const Nanos utc = instant->utc();
  if (utc / kSecond == instant->seconds) return utc;
  return makeError(std::string(text), "not a time of the years 1970 to 2199");
}

}  // namespace pingloom
