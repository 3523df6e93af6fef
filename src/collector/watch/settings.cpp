#include "collector/watch/settings.h"

#include <array>
#include <charconv>
#include <cmath>

#include "common/config_reader.h"

namespace pingloom::collector {
namespace {

constexpr std::size_t kMaxLimits = 256;
constexpr std::uint32_t kMaxWindow = 60;

Result<double> readLimit(const yaml::Node& node) {
  const auto text = node.text();
  if (!text) return tl::unexpected(text.error());
  double value = 0;
  const char* end = text->data() + text->size();
  const auto [rest, failed] = std::from_chars(text->data(), end, value);
  if (failed != std::errc() || rest != end || !std::isfinite(value)) {
    return node.error("'" + *text + "' is no number");
  }
  return value;
}

// Reads { metric: NAME, above: X, samples: N, of: M }, or below instead of above.
Result<MetricLimit> readMetricLimit(const yaml::Node& node) {
  if (auto status = node.onlyKeys({"metric", "above", "below", "samples", "of"}); !status) {
    return tl::unexpected(status.error());
  }
  MetricLimit limit;
  const auto metric = node.find("metric");
  const auto above = node.find("above"), below = node.find("below");
  if (!metric || above.has_value() == below.has_value()) {
    return node.error("write { metric: NAME, above: NUMBER } or { metric: NAME, below: NUMBER }");
  }
  auto name = metric->text();
  if (!name) return tl::unexpected(name.error());
  limit.metric = std::move(*name);
  const auto value = readLimit(above ? *above : *below);
  if (!value) return tl::unexpected(value.error());
  limit.limit = *value;
  using Side = analytics::ThresholdRule::Side;
  limit.side = above ? Side::kAbove : Side::kBelow;
  const auto of = node.find("of"), samples = node.find("samples");
  std::uint32_t window = kMaxWindow, raise = 1;
  Status read;
  if (of) read = readNumber(*of, 1, kMaxWindow, window);
  if (read && samples) read = readNumber(*samples, 1, window, raise);
  if (!read) return tl::unexpected(read.error());
  limit.hysteresis.raise = raise;
  limit.hysteresis.window = of ? window : raise;
  return limit;
}

Status readLimits(const yaml::Node& node, WatchSettings& settings) {
  if (!node.isSequence() || node.items().size() > kMaxLimits) {
    return node.error("expected a list of at most 256: [{ metric: NAME, above: NUMBER }]");
  }
  for (const yaml::Node& item : node.items()) {
    auto limit = readMetricLimit(item);
    if (!limit) return tl::unexpected(limit.error());
    settings.limits.push_back(std::move(*limit));
  }
  return {};
}

constexpr auto kWatchKeys = std::to_array<ConfigKey<WatchSettings>>({
    {"interval",
     [](const yaml::Node& node, WatchSettings& settings) {
       return readDuration(node, 100 * kMillisecond, kMinute, settings.interval);
     }},
    {"slow_interval",
     [](const yaml::Node& node, WatchSettings& settings) {
       return readDuration(node, kSecond, kHour, settings.sampler.slow_interval);
     }},
    {"hold",
     [](const yaml::Node& node, WatchSettings& settings) {
       return readDuration(node, kSecond, kHour, settings.sampler.hold);
     }},
    {"limits", readLimits},
});

}  // namespace

Status readValue(const yaml::Node& node, WatchSettings& settings) {
  if (node.isNull()) return {};  // `analytics:` alone selects the defaults
  return readMap(node, kWatchKeys, settings);
}

}  // namespace pingloom::collector
