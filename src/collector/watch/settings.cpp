#include "collector/watch/settings.h"

#include <charconv>
#include <cmath>

namespace pingloom::collector {
namespace {

constexpr std::size_t kMaxLimits = 256;
constexpr std::uint64_t kMaxWindow = 60;

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

Status readDuration(const yaml::Node& map, std::string_view key, Nanos least, Nanos most,
                    Nanos& out) {
  const auto node = map.find(key);
  if (!node) return {};
  const auto duration = node->duration();
  if (!duration) return tl::unexpected(duration.error());
  if (*duration < least || *duration > most) return node->error("is too short or too long");
  out = *duration;
  return {};
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
  std::uint64_t window = 1, raise = 1;
  if (of) {
    const auto number = of->number(1, kMaxWindow);
    if (!number) return tl::unexpected(number.error());
    window = *number;
  }
  if (samples) {
    const auto number = samples->number(1, of ? window : kMaxWindow);
    if (!number) return tl::unexpected(number.error());
    raise = *number;
  }
  limit.hysteresis.raise = static_cast<std::uint32_t>(raise);
  limit.hysteresis.window = static_cast<std::uint32_t>(of ? window : raise);
  return limit;
}

}  // namespace

Result<WatchSettings> parseWatchSettings(const yaml::Node& node) {
  WatchSettings settings;
  if (node.isNull()) return settings;  // `analytics:` alone selects the defaults
  if (auto status = node.onlyKeys({"interval", "limits", "slow_interval", "hold"}); !status) {
    return tl::unexpected(status.error());
  }
  auto status = readDuration(node, "interval", 100 * kMillisecond, kMinute, settings.interval);
  if (status) {
    status = readDuration(node, "slow_interval", kSecond, kHour, settings.sampler.slow_interval);
  }
  if (status) status = readDuration(node, "hold", kSecond, kHour, settings.sampler.hold);
  if (!status) return tl::unexpected(status.error());
  const auto limits = node.find("limits");
  if (!limits) return settings;
  if (!limits->isSequence() || limits->items().size() > kMaxLimits) {
    return limits->error("expected a list of at most 256: [{ metric: NAME, above: NUMBER }]");
  }
  for (const yaml::Node& item : limits->items()) {
    auto limit = readMetricLimit(item);
    if (!limit) return tl::unexpected(limit.error());
    settings.limits.push_back(std::move(*limit));
  }
  return settings;
}

}  // namespace pingloom::collector
