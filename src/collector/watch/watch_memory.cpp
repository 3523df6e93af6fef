#include "collector/watch/watch_memory.h"

#include <utility>

#include "collector/watch/owner_watch.h"
#include "pingloom/page_format.h"

namespace pingloom::collector {
namespace {

using analytics::StateArchive;
using analytics::SubspaceDetector;
using analytics::SubspaceSettings;

void settingsState(StateArchive& archive, SubspaceSettings& settings) {
  archive(settings.directions, settings.max_rank, settings.shared, settings.warm_up,
          settings.half_life, settings.factor, settings.pace, settings.memory,
          settings.hysteresis.raise, settings.hysteresis.window, settings.evidence,
          settings.relearn_after, settings.learned);
}

bool readMetrics(StateArchive& archive, MetricMemories& metrics, std::size_t& features) {
  std::uint32_t count = 0;
  archive(count);
  archive.require(count <= OwnerWatch::kMaxFeatures);
  for (std::uint32_t i = 0; archive.ok() && i < count; ++i) {
    metrics.emplace_back().state(archive);
    features += metrics.back().features();
  }
  archive.require(features >= 1 && features <= OwnerWatch::kMaxFeatures);
  return archive.ok();
}

}  // namespace

std::size_t MetricMemory::features() const { return kind == PINGLOOM_HISTOGRAM ? kOfHistogram : 1; }

void MetricMemory::state(StateArchive& archive) {
  archive.text(name, kMaxName);
  archive(kind, slots);
  if (kind != PINGLOOM_HISTOGRAM) return;
  archive.require(slots >= 1 && (!archive.reads() || slots <= archive.left() / sizeof(double)));
  if (!archive.ok()) return;
  recent.resize(slots - std::size_t{1});
  archive(values, recent);
}

void writeMemory(MetricMemories metrics, SubspaceDetector& detector, analytics::Replica& replica,
                 analytics::Season* season, std::string& out) {
  StateArchive archive(out);
  auto count = static_cast<std::uint32_t>(metrics.size());
  archive(count);
  for (MetricMemory& metric : metrics) metric.state(archive);
  SubspaceSettings settings = detector.settings();
  settingsState(archive, settings);
  archive(detector, replica);
  bool seasonal = season != nullptr;
  archive(seasonal);
  if (seasonal) archive(*season);
}

std::optional<WatchMemory> readMemory(std::string_view bytes, const SubspaceSettings& settings) {
  StateArchive archive(bytes);
  MetricMemories metrics;
  std::size_t features = 0;
  if (!readMetrics(archive, metrics, features)) return std::nullopt;
  SubspaceSettings written;
  settingsState(archive, written);
  SubspaceSettings wanted = settings;
  wanted.learned = wanted.learned && written.learned;
  written.season = wanted.season;
  if (!archive.ok() || written != wanted || !SubspaceDetector::check(written, features)) {
    return std::nullopt;
  }
  WatchMemory memory{std::move(metrics), SubspaceDetector(features, written),
                     analytics::Replica(features), nullptr};
  archive(memory.detector, memory.replica);
  // A memory of version 2 ends here.
  bool seasonal = false;
  if (archive.left() > 0) archive(seasonal);
  if (seasonal && archive.ok()) {
    memory.season =
        std::make_unique<analytics::Season>(std::vector<bool>(features), written.relearn_after);
    archive(*memory.season);
  }
  archive.require(archive.left() == 0);
  if (!archive.ok()) return std::nullopt;
  return memory;
}

}  // namespace pingloom::collector
