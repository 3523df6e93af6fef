#include "controller/model/limits.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

namespace pingloom::controller {
namespace {

using pinglist::Level;

constexpr std::uint64_t kNoLimit = std::numeric_limits<std::uint64_t>::max();
constexpr std::uint64_t kMaxJudged = kNoLimit / 2;

std::uint64_t limitOf(const Level& level, Figure figure, std::uint64_t base,
                      std::uint64_t least_excess) {
  switch (level.kind) {
    case Level::Kind::kFactor: {
      if (base == 0) return kNoLimit;
      // Nonsense that an agent reports may be the median of a small mesh.
      const double times = level.value * static_cast<double>(base);
      if (base > kMaxJudged || times > static_cast<double>(kMaxJudged)) return kNoLimit;
      return std::max(static_cast<std::uint64_t>(times), base + least_excess);
    }
    case Level::Kind::kTime:
      return static_cast<std::uint64_t>(level.value);
    case Level::Kind::kPercent: {
      const auto share = static_cast<std::uint64_t>(level.value * kMillionth / 100);
      // Stalls that the whole mesh has in common accuse nobody.
      return figure == Figure::kAnomalous ? base + share : share;
    }
    case Level::Kind::kNone:
      break;
  }
  return kNoLimit;
}

constexpr std::array<std::string_view, kFigureNames.size()> kJudgedNames = {
    "network_p50", "rtt_p50", "responder_p50", "prober_p50", "jitter", "loss", "anomalous"};

std::string digits(double value) {
  if (value >= 100) return fmt::format("{:.0f}", value);
  if (value >= 10) return fmt::format("{:.3g}", value);
  return fmt::format("{:.2g}", value);
}

}  // namespace

std::uint64_t leastExcess(Figure figure, ClockSource clock) {
  const bool hardware = clock == ClockSource::kHardware;
  switch (figure) {
    case Figure::kNetwork:
    case Figure::kRtt:
      return static_cast<std::uint64_t>((hardware ? 2 : 50) * kMicrosecond);
    case Figure::kJitter:
      return static_cast<std::uint64_t>((hardware ? 5 : 200) * kMicrosecond);
    case Figure::kResponder:
    case Figure::kProber:
      return static_cast<std::uint64_t>(kMillisecond);
    case Figure::kLoss:
    case Figure::kAnomalous:
      break;
  }
  return 0;
}

Limits limitsOf(const pinglist::Thresholds& thresholds, const Baseline& baseline,
                ClockSource clock) {
  Limits made;
  for (std::size_t i = 0; i < kFigureNames.size(); ++i) {
    const auto figure = static_cast<Figure>(i);
    // Jitter below the usual network time is no trouble of a path.
    std::uint64_t least = leastExcess(figure, clock);
    if (figure == Figure::kJitter) least = std::max(least, baseline[0]);
    made.warn[i] = limitOf(thresholds.of[i].warn, figure, baseline[i], least);
    made.crit[i] = limitOf(thresholds.of[i].crit, figure, baseline[i], least);
  }
  return made;
}

std::string timeText(std::uint64_t nanos) {
  const auto value = static_cast<double>(nanos);
  if (nanos < 1000) return fmt::format("{} ns", nanos);
  if (value < 1e6) return digits(value / 1e3) + " us";
  if (value < 1e9) return digits(value / 1e6) + " ms";
  return digits(value / 1e9) + " s";
}

std::string ratioText(std::uint64_t value, std::uint64_t base) {
  return digits(static_cast<double>(value) / static_cast<double>(std::max<std::uint64_t>(base, 1)));
}

std::string shareText(std::uint64_t millionths) {
  return digits(static_cast<double>(millionths) / (kMillionth / 100)) + " %";
}

std::vector<std::string> becauseOf(const RowFigures& row, Judged judged, const Baseline& baseline) {
  std::vector<std::string> made;
  if (judged.severity < Severity::kSlow) return made;
  for (std::size_t i = 0; i < kFigureNames.size(); ++i) {
    if ((judged.figures & 1U << i) == 0) continue;
    const auto figure = static_cast<Figure>(i);
    std::uint64_t value = 0;
    if (!judgedValue(row, figure, value)) continue;
    if (isShare(figure)) {
      made.push_back(fmt::format("{} {}", kJudgedNames[i], shareText(value)));
    } else if (baseline[i] == 0) {
      made.push_back(fmt::format("{} {}", kJudgedNames[i], timeText(value)));
    } else {
      made.push_back(fmt::format("{} {}, {} x the mesh's median", kJudgedNames[i], timeText(value),
                                 ratioText(value, baseline[i])));
    }
  }
  return made;
}

}  // namespace pingloom::controller
