#include "pinglist/thresholds.h"

#include <fmt/format.h>

#include <charconv>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "common/duration.h"
#include "common/text.h"
#include "common/time.h"

namespace pingloom::pinglist {
namespace {

constexpr std::size_t kFirstRatio = 5;  // index in kThresholdMetrics
// The resolution of a cell of the heatmap.
constexpr Nanos kMin = 100;
constexpr Nanos kMax = 10 * kSecond;
constexpr double kMinPercent = 0.01;
constexpr double kMaxFactor = 10'000;

enum class Kind : std::uint8_t { kNone, kFactor, kTime, kPercent };
struct Level {
  Kind kind = Kind::kNone;
  double value = 0;  // a factor, nanoseconds or percent
};

// Returns the number before the suffix, or nullopt if the text is malformed.
std::optional<double> numberBefore(std::string_view suffix, std::string_view text) {
  if (!text.ends_with(suffix)) return std::nullopt;
  text.remove_suffix(suffix.size());
  double number = 0;
  const auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), number, std::chars_format::fixed);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

std::optional<Level> levelOf(std::string_view text) {
  if (text.empty() || text == "none") return Level{};
  if (const auto factor = numberBefore("x", text)) return Level{Kind::kFactor, *factor};
  if (const auto percent = numberBefore("%", text)) return Level{Kind::kPercent, *percent};
  const auto duration = parseDuration(text);
  if (!duration) return std::nullopt;
  return Level{Kind::kTime, static_cast<double>(*duration)};
}

std::string textOf(const Level& level) {
  switch (level.kind) {
    case Kind::kFactor:
      return fmt::format("{}x", level.value);
    case Kind::kPercent:
      return fmt::format("{}%", level.value);
    case Kind::kTime:
      return formatDuration(static_cast<Nanos>(level.value));
    case Kind::kNone:
      break;
  }
  return "";
}

// Returns the fault of a level, or "" if it is valid.
std::string faultOf(const std::string& text, const std::optional<Level>& level, bool ratio) {
  const auto within = [&](double low, double high) {
    return level->value >= low && level->value <= high;
  };
  const char* const wanted = ratio ? "write a share such as 1%, or none"
                                   : "write a time such as 50us, 3x for three times the mesh's "
                                     "median, or none";
  if (!level) return fmt::format("'{}' is no threshold: {}", text, wanted);
  switch (level->kind) {
    case Kind::kFactor:
      if (ratio) return fmt::format("'{}' of a median that is mostly 0: {}", text, wanted);
      return within(1, kMaxFactor) ? ""
                                   : fmt::format("'{}' is not within 1x and {}x", text, kMaxFactor);
    case Kind::kTime:
      if (ratio) return fmt::format("'{}' is a time: {}", text, wanted);
      return within(static_cast<double>(kMin), static_cast<double>(kMax))
                 ? ""
                 : fmt::format("'{}' is not within {} and {}", text, formatDuration(kMin),
                               formatDuration(kMax));
    case Kind::kPercent:
      if (!ratio) return fmt::format("'{}' is a share: {}", text, wanted);
      return within(kMinPercent, 100)
                 ? ""
                 : fmt::format("'{}' is not within {}% and 100%", text, kMinPercent);
    case Kind::kNone:
      break;
  }
  return "";
}

Status readLevel(const yaml::Node& levels, std::string_view key, std::string_view metric,
                 bool ratio, std::string& into) {
  const auto node = levels.find(key);
  if (!node) return {};
  const auto text = node->text();
  if (!text) return tl::unexpected(text.error());
  const auto level = levelOf(*text);
  if (auto fault = faultOf(*text, level, ratio); !fault.empty()) {
    return node->error(fmt::format("{} of {}: {}", key, metric, fault));
  }
  into = textOf(*level);
  return {};
}

Status readMetric(const yaml::Node& levels, std::size_t metric, Threshold& threshold) {
  if (auto status = levels.onlyKeys({"warn", "crit"}); !status) return status;
  const std::string_view name = kThresholdMetrics[metric];
  const bool ratio = metric >= kFirstRatio;
  for (const auto& [key, into] :
       {std::pair("warn", &threshold.warn), std::pair("crit", &threshold.crit)}) {
    if (auto status = readLevel(levels, key, name, ratio, *into); !status) return status;
  }
  const auto warn = levelOf(threshold.warn);
  const auto crit = levelOf(threshold.crit);
  if (warn->kind == crit->kind && warn->value > crit->value) {
    return levels.error(fmt::format("{}: warn {} is beyond crit {}; name both", name,
                                    threshold.warn, threshold.crit));
  }
  return {};
}

}  // namespace

Status readThresholds(const yaml::Node& map, Thresholds& thresholds) {
  const auto node = map.find("thresholds");
  if (!node || node->isNull()) return {};
  auto status = node->onlyKeys({kThresholdMetrics.begin(), kThresholdMetrics.end()});
  if (!status) return status;
  for (std::size_t i = 0; i < kThresholdMetrics.size(); ++i) {
    const auto levels = node->find(kThresholdMetrics[i]);
    if (!levels) continue;
    if (status = readMetric(*levels, i, thresholds.of[i]); !status) return status;
  }
  return {};
}

std::string describe(const Thresholds& thresholds) {
  static const Thresholds usual;
  const auto shown = [](const std::string& level) { return level.empty() ? "none" : level; };
  std::vector<std::string> parts;
  for (std::size_t i = 0; i < kThresholdMetrics.size(); ++i) {
    const Threshold& threshold = thresholds.of[i];
    if (threshold == usual.of[i]) continue;
    parts.push_back(fmt::format("{} warn {} crit {}", kThresholdMetrics[i], shown(threshold.warn),
                                shown(threshold.crit)));
  }
  return join(parts, ", ");
}

}  // namespace pingloom::pinglist
