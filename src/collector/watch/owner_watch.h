// One application's pages, watched together: limits that were set, and whether its metrics go
// together as they usually do. One thread.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "collector/analytics/rate_tracker.h"
#include "collector/board.h"
#include "collector/watch/settings.h"

namespace pingloom::collector {

using PagesOfOwner = std::vector<const PageView*>;  // by place

// Something began or ended.
struct WatchEvent {
  Nanos utc = 0;
  std::string host, application;
  std::uint32_t pid = 0;
  std::uint64_t owner = 0;
  std::string kind;    // "limit" or "anomaly"
  bool began = false;  // otherwise it ended
  std::string metric;  // the one concerned, or the one that is furthest off
  double value = 0;    // limit: the metric's; anomaly: the score
  double limit = 0;    // anomaly: 1
};

class OwnerWatch {
 public:
  static constexpr std::size_t kMaxSlots = 4096;

  // Never a watch that fits no page: nullptr where the owner has none or more than kMaxSlots.
  static std::unique_ptr<OwnerWatch> make(const PagesOfOwner& pages, const WatchSettings& settings);

  // Whether these are the pages and metrics that it was made for.
  bool fits(const PagesOfOwner& pages) const;
  // A sample, where all pages have been read since the last; what began or ended is added.
  void observe(const PagesOfOwner& pages, std::vector<WatchEvent>& events);
  // Whether this round's values are exported (docs/analytics.md).
  bool exports(Nanos now) { return sampler_.exports(now, state(), kinds_); }

  std::size_t slots() const { return kinds_; }
  bool anomalous() const { return limits_.anomalous() || verdict_.anomalous; }
  analytics::GroupState state() const;
  double score() const { return verdict_.score; }
  bool judged() const { return verdict_.judged; }
  struct Exceeded {
    std::string metric;
    bool now = false;
  };
  const std::vector<Exceeded>& exceeded() const { return exceeded_; }
  const analytics::AdaptiveSampler& sampler() const { return sampler_; }

 private:
  struct Layout {
    std::uint64_t generation = 0;
    std::uint32_t schema_version = 0;
    std::size_t slots = 0;
    bool operator==(const Layout&) const = default;
  };
  struct Verdict {
    bool judged = false;
    bool anomalous = false;
    bool learning = true;
    double score = 0;
  };

  OwnerWatch(std::vector<Layout> layout, std::vector<analytics::SlotKind> kinds,
             std::vector<std::string> names, std::vector<analytics::ThresholdRule> rules,
             const WatchSettings& settings);

  const std::vector<Layout> layout_;
  const std::size_t kinds_;               // slots
  const std::vector<std::string> names_;  // of the slots' metrics
  analytics::RateTracker rates_;
  analytics::ThresholdDetector limits_;
  analytics::SubspaceDetector detector_;
  analytics::AdaptiveSampler sampler_;
  std::vector<std::uint64_t> raw_;
  std::vector<double> sample_;
  std::vector<Exceeded> exceeded_;
  Verdict verdict_;
  Nanos last_read_ = 0;
};

}  // namespace pingloom::collector
