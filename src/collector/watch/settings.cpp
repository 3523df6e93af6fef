#include "collector/watch/settings.h"

#include <fmt/format.h>

#include <array>
#include <limits>
#include <utility>

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

using analytics::PeerSettings;
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

constexpr auto kPeerKeys = std::to_array<ConfigKey<PeerSettings>>({
    {"limit",
     [](const yaml::Node& node, PeerSettings& settings) {
       return readReal(node, 1, PeerSettings::kMaxLimit, settings.limit);
     }},
    {"of",
     [](const yaml::Node& node, PeerSettings& settings) {
       return readNumber(node, 1, analytics::Hysteresis::kMaxWindow, settings.hysteresis.window);
     }},
    {"samples",
     [](const yaml::Node& node, PeerSettings& settings) {
       return readNumber(node, 1, analytics::Hysteresis::kMaxWindow, settings.hysteresis.raise);
     }},
    {"memory",
     [](const yaml::Node& node, PeerSettings& settings) {
       return readReal(node, 1, PeerSettings::kMaxMemory, settings.memory);
     }},
    {"replicas",
     [](const yaml::Node& node, PeerSettings& settings) {
       return readNumber(node, PeerSettings::kMinReplicas, PeerSettings::kMaxReplicas,
                         settings.replicas);
     }},
});

// Reads a key of a part of `Whole` that has a table of its own.
template <const auto& kKeys, std::size_t kKey, auto kPart, typename Whole>
Status readPart(const yaml::Node& node, Whole& whole) {
  return kKeys[kKey].read(node, whole.*kPart);
}

// Returns the table of a map that has the keys of a part, and one key more.
template <const auto& kKeys, auto kPart, typename Whole, std::size_t... kKey>
constexpr auto keysOfPart(ConfigKey<Whole> more, std::index_sequence<kKey...> /*all*/) {
  return std::array<ConfigKey<Whole>, sizeof...(kKey) + 1>{
      {{kKeys[kKey].name, readPart<kKeys, kKey, kPart, Whole>}..., more}};
}

constexpr auto kPeersKeys = keysOfPart<kPeerKeys, &WatchSettings::peers, WatchSettings>(
    {"label", readPeersLabel}, std::make_index_sequence<kPeerKeys.size()>());

// Reads false, true, or a map with these keys, which means true. What it does not set stays.
template <typename Target, std::size_t kKeys>
Status readPeers(const yaml::Node& node, const std::array<ConfigKey<Target>, kKeys>& keys,
                 Target& target, PeerSettings& peers) {
  if (!node.isMap()) {
    if (pingloom::readValue(node, peers.enabled)) return {};
    return node.error("write false, true, or a map: { limit: 6 }");
  }
  peers.enabled = true;
  if (auto status = readMap(node, keys, target); !status) return status;
  if (analytics::Hysteresis::valid(peers.hysteresis)) return {};
  return node.error(fmt::format("{} of {} samples: 'samples' must be at most 'of'",
                                peers.hysteresis.raise, peers.hysteresis.window));
}

constexpr auto kApplicationKeys =
    keysOfPart<kDetectorKeys, &ApplicationSettings::subspace, ApplicationSettings>(
        {"peers",
         [](const yaml::Node& node, ApplicationSettings& settings) {
           return readPeers(node, kPeerKeys, settings.peers, settings.peers);
         }},
        std::make_index_sequence<kDetectorKeys.size()>());

// Sets what the map contains; the rest of the settings stays unchanged.
template <typename Target, std::size_t kKeys>
Status readDetector(const yaml::Node& node, const std::array<ConfigKey<Target>, kKeys>& keys,
                    Target& target, const SubspaceSettings& detector) {
  if (auto status = readMap(node, keys, target); !status) return status;
  const auto valid = analytics::SubspaceDetector::check(detector, 1);
  if (!valid) return node.error(valid.error().reason);
  return {};
}

// What an application does not set is as in `detector` and `peers`, which are read before.
Status readApplications(const yaml::Node& node, WatchSettings& settings) {
  if (auto status = node.uniqueKeys(); !status) return status;
  const auto entries = node.entries();
  if (entries.size() > WatchSettings::kMaxApplications) {
    return node.error("has more than 1000 applications");
  }
  for (const auto& [key, own] : entries) {
    std::string name;
    if (auto status = readText(key, kMaxApplication, name); !status) return status;
    ApplicationSettings& read = settings.applications[name] = {settings.subspace, settings.peers};
    auto status = readDetector(own, kApplicationKeys, read, read.subspace);
    if (!status) return status;
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
    {"trace_one_in",
     [](const yaml::Node& node, WatchSettings& settings) {
       return readNumber(node, 1, kMaxTraceOneIn, settings.trace_one_in);
     }},
    {"limits", readLimits},
    {"detector",
     [](const yaml::Node& node, WatchSettings& settings) {
       return readDetector(node, kDetectorKeys, settings.subspace, settings.subspace);
     }},
    {"peers",
     [](const yaml::Node& node, WatchSettings& settings) {
       return readPeers(node, kPeersKeys, settings, settings.peers);
     }},
    {"applications", readApplications},
});

}  // namespace

Status readValue(const yaml::Node& node, WatchSettings& settings) {
  if (node.isNull()) return {};  // `analytics:` alone selects the defaults
  return readMap(node, kWatchKeys, settings);
}

}  // namespace pingloom::collector
