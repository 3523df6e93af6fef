// Turns the slots of a group's pages into the numbers that are judged, its features: a gauge's
// value, a counter's rate per second, and of a histogram the rate of its values, their mean, and
// their median and 99th percentile of the last minute or so. Of a summary they are the rate of its
// values, their mean, and each of its quantiles. A histogram's buckets are not judged one by one:
// each gets few values, so their counts jump although the histogram is as usual.
//
// One thread. Memory is 40 bytes for each slot, and the names of the features. update() allocates
// nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "collector/analytics/rate_tracker.h"
#include "collector/analytics/rearrange.h"
#include "collector/board.h"
#include "collector/watch/watch_memory.h"

namespace pingloom::collector {

using PagesOfOwner = std::vector<const PageView*>;  // ordered by place

struct Feature {
  std::string metric;  // the metric's name with its labels
  // "rate", "mean", "p50" or "p99" of a histogram; a summary may have other quantiles ("p99.9"). It
  // is "" for other metrics.
  std::string part;
};

class PageFeatures {
 public:
  static constexpr Nanos kHalfLife = 30 * kSecond;  // of the values that quantiles are computed of
  // So many of these values are needed for a quantile; it stays as it is while there are fewer.
  static constexpr double kMinValues = 200;
  // A quantile that differs by less than so many standard errors does so by chance.
  static constexpr double kErrors = 4;
  // The usual error is learned from so many updates, and begins to move slowly after kErrorSettles.
  static constexpr std::uint32_t kErrorMemory = 3600;
  static constexpr std::uint32_t kErrorSettles = 60;
  static constexpr double kErrorGrows = 4;

  // The number of features that pages with this schema have.
  static std::size_t countOf(const pages::Schema& schema);

  explicit PageFeatures(const PagesOfOwner& pages);

  const std::vector<Feature>& all() const { return features_; }
  std::size_t size() const { return features_.size(); }
  std::size_t slots() const { return raw_.size(); }
  // The same for pages with the same features.
  std::size_t fingerprint() const { return fingerprint_; }
  const PageInfo& firstInfo() const { return *infos_.front(); }
  // Returns the value of a label that all metrics have, or "" if they differ.
  std::string valueOfLabel(std::string_view name) const;
  // Returns the metrics, and what the values of histograms are like.
  MetricMemories remember() const;
  // Continues the histograms of `others`. Returns for each feature the number of the same one among
  // theirs, or analytics::kNewSlot.
  std::vector<std::size_t> takeOver(const MetricMemories& others);
  // Tells for each feature whether it is a rate: a counter's, or that of a histogram's or summary's
  // values.
  std::vector<bool> rates() const;
  // Tells whether these are the pages and metrics for which it was created.
  bool fits(const PagesOfOwner& pages) const;
  // The metric that a feature is of.
  const pages::Metric& metricOf(std::size_t feature) const;

  // Returns the features of the slots that were read at `read`, monotonic, in the metrics' units.
  // An unknown one is NaN (rate_tracker.h). What a histogram's values are like is 0 before its
  // first ones, that of a summary's unknown, and both stay as they are while there are none.
  // REQUIRES: the pages have the constructor's layout, and enough slots.
  std::span<const double> update(Nanos read, const PagesOfOwner& pages);
  // Returns by how much each feature has to differ from what is expected to be unusual, because a
  // quantile of few values is uncertain. It is 0 where that is not known.
  std::span<const double> least() const { return least_; }

 private:
  // A metric, or one of a summary's slots. Each is remembered by itself, so that a summary's
  // quantiles may change.
  struct Source {
    const pages::Metric* metric;
    pages::UnitScale scale;
    std::size_t slot;      // its first one
    std::size_t feature;   // its first one
    std::size_t part = 0;  // of a summary: which of its slots
  };
  void addMetric(const pages::Metric& metric, const std::string& name, std::size_t slot);
  void addSummary(const pages::Metric& metric, const std::string& name, std::size_t slot);
  // The name by which others know what the source is of.
  std::string keyOf(const Source& source) const;
  void updateHistogram(const Source& source, double seconds);
  void updateSummary(const Source& source);
  void learnError(const Source& source, std::size_t part, double share,
                  std::span<const double> recent, double total);
  void continueHistogram(const Source& source, const MetricMemory& other);
  const Source& sourceOf(std::size_t feature) const;

  std::vector<std::shared_ptr<const PageInfo>> infos_;  // keep the metrics
  std::vector<Source> sources_;
  std::vector<Feature> features_;
  std::vector<std::uint64_t> raw_;
  std::vector<double> sample_;  // by slot
  std::vector<double> recent_;  // by slot: recent values in a histogram's buckets
  std::vector<double> values_;  // by feature
  std::vector<double> least_;   // by feature
  struct QuantileError {
    double usual = 0;  // of one value, in the metric's unit
    std::uint32_t samples = 0;
  };
  std::vector<QuantileError> errors_;  // by feature
  analytics::RateTracker rates_;
  std::size_t fingerprint_ = 0;
  Nanos last_read_ = 0;
};

}  // namespace pingloom::collector
