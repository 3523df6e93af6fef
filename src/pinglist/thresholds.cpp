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

// The resolution of a cell of the heatmap.
constexpr Nanos kMin = 100;
constexpr Nanos kMax = 10 * kSecond;
constexpr double kMinPercent = 0.01;
constexpr double kMaxFactor = 10'000;

using Kind = Level::Kind;

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

Status readLevel(const yaml::Node& levels, std::string_view key, Figure figure, Level& into) {
  const auto node = levels.find(key);
  if (!node) return {};
  const auto text = node->text();
  if (!text) return tl::unexpected(text.error());
  const auto level = levelOf(*text);
  if (auto fault = faultOf(*text, level, isShare(figure)); !fault.empty()) {
    return node->error(fmt::format("{} of {}: {}", key, name(figure), fault));
  }
  into = *level;
  return {};
}

Status readFigure(const yaml::Node& levels, Figure figure, Threshold& threshold) {
  if (auto status = levels.onlyKeys({"warn", "crit"}); !status) return status;
  if (auto status = readLevel(levels, "warn", figure, threshold.warn); !status) return status;
  if (auto status = readLevel(levels, "crit", figure, threshold.crit); !status) return status;
  if (threshold.warn.kind == threshold.crit.kind && threshold.warn.value > threshold.crit.value) {
    return levels.error(fmt::format("{}: warn {} is beyond crit {}; name both", name(figure),
                                    threshold.warn.text(), threshold.crit.text()));
  }
  return {};
}

// Reads "3 of 5".
Status readWindows(const yaml::Node& thresholds, std::string_view key, WindowCount& into) {
  const auto node = thresholds.find(key);
  if (!node) return {};
  const auto text = node->text();
  if (!text) return tl::unexpected(text.error());
  const std::size_t middle = text->find(" of ");
  if (middle != std::string::npos) {
    const auto k = parseUnsigned(text->substr(0, middle), WindowCount::kMaxWindows);
    const auto n = parseUnsigned(text->substr(middle + 4), WindowCount::kMaxWindows);
    if (k && n && *k >= 1 && *k <= *n) {
      into = {static_cast<std::uint8_t>(*k), static_cast<std::uint8_t>(*n)};
      return {};
    }
  }
  return node->error(fmt::format("{}: '{}' is no number of windows: write 3 of 5, with at most {}",
                                 key, *text, WindowCount::kMaxWindows));
}

std::string shown(const Level& level) { return level.kind == Kind::kNone ? "none" : level.text(); }

}  // namespace

std::string Level::text() const {
  switch (kind) {
    case Kind::kFactor:
      return fmt::format("{}x", value);
    case Kind::kPercent:
      return fmt::format("{}%", value);
    case Kind::kTime:
      return formatDuration(static_cast<Nanos>(value));
    case Kind::kNone:
      break;
  }
  return "";
}

Status readThresholds(const yaml::Node& map, Thresholds& thresholds) {
  const auto node = map.find("thresholds");
  if (!node || node->isNull()) return {};
  std::vector<std::string_view> keys(kFigureNames.begin(), kFigureNames.end());
  keys.insert(keys.end(), {"enter", "leave"});
  auto status = node->onlyKeys(keys);
  if (!status) return status;
  for (std::size_t i = 0; i < kFigureNames.size(); ++i) {
    const auto levels = node->find(kFigureNames[i]);
    if (!levels) continue;
    status = readFigure(*levels, static_cast<Figure>(i), thresholds.of[i]);
    if (!status) return status;
  }
  if (status = readWindows(*node, "enter", thresholds.enter); !status) return status;
  return readWindows(*node, "leave", thresholds.leave);
}

std::string describe(const Thresholds& thresholds) {
  static const Thresholds usual;
  std::vector<std::string> parts;
  for (std::size_t i = 0; i < kFigureNames.size(); ++i) {
    const Threshold& threshold = thresholds.of[i];
    if (threshold == usual.of[i]) continue;
    parts.push_back(fmt::format("{} warn {} crit {}", kFigureNames[i], shown(threshold.warn),
                                shown(threshold.crit)));
  }
  const auto windows = [&parts](std::string_view key, WindowCount count, WindowCount usual_count) {
    if (count != usual_count) parts.push_back(fmt::format("{} {} of {}", key, count.k, count.n));
  };
  windows("enter", thresholds.enter, usual.enter);
  windows("leave", thresholds.leave, usual.leave);
  return join(parts, ", ");
}

}  // namespace pingloom::pinglist
