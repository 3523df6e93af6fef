#include "collector/watch/settings.h"

#include <array>
#include <limits>

#include "common/config_reader.h"
#include "pages/definition_rules.h"

namespace pingloom::collector {
namespace {

constexpr std::size_t kMaxLimits = 256;
constexpr std::uint32_t kMaxWindow = 60;
constexpr std::uint32_t kMaxTraceOneIn = 1'000'000;
constexpr std::size_t kMaxLabelName = 128;    // bytes
constexpr std::size_t kMaxApplication = 253;  // bytes of a name; no page can have a longer one

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
  if (auto status = readReal(above ? *above : *below, limit.limit); !status) {
    return tl::unexpected(status.error());
  }
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

Status readPeersLabel(const yaml::Node& node, WatchSettings& settings) {
  if (auto status = readText(node, kMaxLabelName, settings.peers_label); !status) return status;
  if (pages::isLabelName(settings.peers_label)) return {};
  return node.error("is no name of a label");
}

using analytics::SubspaceSettings;

template <auto kField>
Status readCount(const yaml::Node& node, SubspaceSettings& settings) {
  return readNumber(node, 0, std::numeric_limits<std::uint32_t>::max(), settings.*kField);
}

template <auto kField, int kMin, int kMax>
Status readRealField(const yaml::Node& node, SubspaceSettings& settings) {
  return readReal(node, kMin, kMax, settings.*kField);
}

// How these bounds depend on each other is checked by SubspaceDetector::check().
constexpr auto kDetectorKeys = std::to_array<ConfigKey<SubspaceSettings>>({
    {"directions", readCount<&SubspaceSettings::directions>},
    {"max_rank", readCount<&SubspaceSettings::max_rank>},
    {"shared", readRealField<&SubspaceSettings::shared, 1, 1'000'000>},
    {"warm_up", readCount<&SubspaceSettings::warm_up>},
    {"half_life", readRealField<&SubspaceSettings::half_life, 1, 1'000'000'000>},
    {"factor", readRealField<&SubspaceSettings::factor, 1, 1000>},
    {"pace", [](const yaml::Node& node,
                SubspaceSettings& settings) { return readReal(node, 0, 0.1, settings.pace); }},
    {"memory", readRealField<&SubspaceSettings::memory, 1, 1'000'000>},
    {"samples",
     [](const yaml::Node& node, SubspaceSettings& settings) {
       return readNumber(node, 1, analytics::Hysteresis::kMaxWindow, settings.hysteresis.raise);
     }},
    {"of",
     [](const yaml::Node& node, SubspaceSettings& settings) {
       return readNumber(node, 1, analytics::Hysteresis::kMaxWindow, settings.hysteresis.window);
     }},
    {"evidence",
     [](const yaml::Node& node, SubspaceSettings& settings) {
       return readReal(node, 0, analytics::SubspaceDetector::kMaxEvidence, settings.evidence);
     }},
    {"relearn_after", readCount<&SubspaceSettings::relearn_after>},
    {"learned",
     [](const yaml::Node& node,
        SubspaceSettings& settings) { return pingloom::readValue(node, settings.learned); }},
    {"season",
     [](const yaml::Node& node,
        SubspaceSettings& settings) { return pingloom::readValue(node, settings.season); }},
});

// Sets what the map contains; the rest of the settings stays unchanged.
Status readDetector(const yaml::Node& node, SubspaceSettings& settings) {
  if (auto status = readMap(node, kDetectorKeys, settings); !status) return status;
  const auto valid = analytics::SubspaceDetector::check(settings, 1);
  if (!valid) return node.error(valid.error().reason);
  return {};
}

// What an application does not set is as in `detector`, which is read before.
Status readApplications(const yaml::Node& node, WatchSettings& settings) {
  if (auto status = node.uniqueKeys(); !status) return status;
  const auto entries = node.entries();
  if (entries.size() > WatchSettings::kMaxApplications) {
    return node.error("has more than 1000 applications");
  }
  for (const auto& [key, own] : entries) {
    std::string name;
    if (auto status = readText(key, kMaxApplication, name); !status) return status;
    SubspaceSettings& read = settings.applications[name] = settings.subspace;
    if (auto status = readDetector(own, read); !status) return status;
  }
  return {};
}

constexpr auto kPeersKeys = std::to_array<ConfigKey<WatchSettings>>({{"label", readPeersLabel}});

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
    {"trace_one_in",
     [](const yaml::Node& node, WatchSettings& settings) {
       return readNumber(node, 1, kMaxTraceOneIn, settings.trace_one_in);
     }},
    {"limits", readLimits},
    {"detector", [](const yaml::Node& node,
                    WatchSettings& settings) { return readDetector(node, settings.subspace); }},
    {"applications", readApplications},
    {"peers", [](const yaml::Node& node,
                 WatchSettings& settings) { return readMap(node, kPeersKeys, settings); }},
});

}  // namespace

Status readValue(const yaml::Node& node, WatchSettings& settings) {
  if (node.isNull()) return {};  // `analytics:` alone selects the defaults
  return readMap(node, kWatchKeys, settings);
}

}  // namespace pingloom::collector
