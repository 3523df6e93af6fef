// What is known about a group of an application's pages, without the pages: which metrics it has,
// and what is usual for them. It outlives the application, in memory and on disk (watch_shelf.h,
// watch_file.h). Values; one thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "collector/analytics/peer_group.h"
#include "collector/analytics/season.h"
#include "collector/analytics/state_archive.h"
#include "collector/analytics/subspace_detector.h"

namespace pingloom::collector {

// A metric, or a part of a summary, and what its values are like if it is a histogram.
struct MetricMemory {
  static constexpr std::size_t kMaxName = std::size_t{16} << 10;  // bytes
  static constexpr std::size_t kOfHistogram = 4;

  std::string name;                               // with its labels, and a summary's part
  std::uint8_t kind = 0;                          // as in a page's schema
  std::uint32_t slots = 0;                        // 1 or more
  std::array<double, kOfHistogram - 1> values{};  // mean, median and 99th percentile
  std::vector<double> recent;                     // recent values in a histogram's buckets

  std::size_t features() const;
  void state(analytics::StateArchive& archive);
};
using MetricMemories = std::vector<MetricMemory>;

struct WatchMemory {
  MetricMemories metrics;
  analytics::SubspaceDetector detector;
  analytics::Replica replica;
  std::unique_ptr<analytics::Season> season;  // nullptr if there is none
};

// Appends what is known to `out`. There may be no season.
void writeMemory(MetricMemories metrics, analytics::SubspaceDetector& detector,
                 analytics::Replica& replica, analytics::Season* season, std::string& out);
// Returns nullopt if the bytes are damaged, or were learned with other settings than `settings`. A
// memory without history is taken although `settings` want a learned model, and one without a
// season, as the version before 3 has it, although they want a season.
std::optional<WatchMemory> readMemory(std::string_view bytes,
                                      const analytics::SubspaceSettings& settings);

}  // namespace pingloom::collector
