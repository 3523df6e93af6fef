#include "common/duration.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cmath>

namespace pingloom {
namespace {

struct DurationUnit {
  std::string_view name;
  Nanos nanos;
};
// Longest first: formatDuration takes the first that divides.
constexpr std::array<DurationUnit, 7> kDurationUnits = {{{"d", 24 * kHour},
                                                         {"h", kHour},
                                                         {"m", kMinute},
                                                         {"s", kSecond},
                                                         {"ms", kMillisecond},
                                                         {"us", kMicrosecond},
                                                         {"ns", 1}}};

}  // namespace

Result<Nanos> parseDuration(std::string_view text) {
  const std::string entity = "duration '" + std::string(text) + "'";
  double number = 0;
  auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), number, std::chars_format::fixed);
  if (error != std::errc())
    return makeError(entity, "not a number with a unit, such as 200ms or 10s");
  const std::string_view suffix(end, static_cast<std::size_t>(text.data() + text.size() - end));
  for (const DurationUnit& unit : kDurationUnits) {
    if (suffix != unit.name) continue;
    const double nanos = number * static_cast<double>(unit.nanos);
    if (!(nanos >= 1)) return makeError(entity, "must be longer than zero");
    if (nanos > static_cast<double>(kMaxDuration))
      return makeError(entity, "longer than ten years");
    return std::llround(nanos);
  }
  return makeError(entity, suffix.empty() ? "has no unit (ns, us, ms, s, m, h, d)"
                                          : "unknown unit; use ns, us, ms, s, m, h or d");
}

std::string formatDuration(Nanos duration) {
  if (duration == 0) return "0s";
  for (const DurationUnit& unit : kDurationUnits) {
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

}  // namespace pingloom
