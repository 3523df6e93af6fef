// Watches the pages of one application: its configured limits, and whether its metrics vary
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

using PagesOfOwner = std::vector<const PageView*>;  // ordered by place

// The beginning or end of a limit violation or an anomaly.
struct WatchEvent {
  Nanos utc = 0;
  std::string host, application;
  std::uint32_t pid = 0;
  std::uint64_t owner = 0;
  std::string kind;    // "limit" or "anomaly"
  bool began = false;  // false if it ended
  std::string metric;  // the metric concerned, or the one that deviates most
  double value = 0;    // the metric's value, or the score of an anomaly
  double limit = 0;    // 1 for an anomaly
};

class OwnerWatch {
 public:
  static constexpr std::size_t kMaxSlots = 4096;

  // Returns nullptr if the owner has no slots, or more than kMaxSlots.
  // `learned` says whether there may be a learned model, which needs a history of samples.
  static std::unique_ptr<OwnerWatch> make(const PagesOfOwner& pages, const WatchSettings& settings,
                                          bool learned = true);

  // Tells whether these are the pages and metrics for which it was created.
  bool fits(const PagesOfOwner& pages) const;
  // Takes a sample if all pages have been read since the last one. Appends what began or ended.
  void observe(const PagesOfOwner& pages, std::vector<WatchEvent>& events);
  // Tells whether this round's values are exported (docs/analytics.md).
  bool exports(Nanos now) { return sampler_.exports(now, state(), kinds_); }

  // Whether fit() has something to do, which works on the learned model for so many rows.
  bool wantsFit() const { return detector_.wantsFit(); }
  void fit(std::size_t rows) { detector_.fit(rows); }

  std::size_t slots() const { return kinds_; }
  // The number of slots for which a history is kept.
  std::size_t historySlots() const { return detector_.keepsHistory() ? kinds_ : 0; }
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
             const analytics::SubspaceSettings& subspace,
             const analytics::SamplerSettings& sampler);

  const std::vector<Layout> layout_;
  const std::size_t kinds_;               // number of slots
  const std::vector<std::string> names_;  // names of the slots' metrics
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
