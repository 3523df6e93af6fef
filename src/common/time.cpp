#include "common/time.h"

#include <algorithm>
#include <array>
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

// Appends so many digits and what ends them. REQUIRES: 0 <= number < 10^width; width <= 4.
template <typename Number>
void appendPadded(std::string& out, Number number, int width, char end) {
  std::array<char, 4> digits;
  for (int i = width; i-- > 0; number /= 10) {
    digits[static_cast<std::size_t>(i)] = static_cast<char>('0' + number % 10);
  }
  out.append(digits.data(), static_cast<std::size_t>(width));
  out += end;
}

}  // namespace

Nanos monotonicNow() { return read(CLOCK_MONOTONIC); }
Nanos utcNow() { return read(CLOCK_REALTIME); }

Instant Instant::now() {
  Instant made;
  for (int attempt = 0; attempt < 3; ++attempt) {
    made.mono = monotonicNow();
    made.utc = utcNow();
    if (monotonicNow() - made.mono <= kApart) break;
  }
  return made;
}

void appendUtc(std::string& out, Nanos utc) {
  using namespace std::chrono;
  const auto when = floor<milliseconds>(nanoseconds(utc));
  const auto day = floor<days>(when);
  const year_month_day date{sys_days(day)};
  const hh_mm_ss clock(when - day);
  appendPadded(out, static_cast<int>(date.year()), 4, '-');
  appendPadded(out, static_cast<unsigned>(date.month()), 2, '-');
  appendPadded(out, static_cast<unsigned>(date.day()), 2, 'T');
  appendPadded(out, clock.hours().count(), 2, ':');
  appendPadded(out, clock.minutes().count(), 2, ':');
  const bool fraction = clock.subseconds() != clock.subseconds().zero();
  appendPadded(out, clock.seconds().count(), 2, fraction ? '.' : 'Z');
  if (fraction) appendPadded(out, clock.subseconds().count(), 3, 'Z');
}

std::string formatUtc(Nanos utc) {
  std::string text;
  appendUtc(text, utc);
  return text;
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
