// Watches the pages of one application: its configured limits, whether its metrics vary together as
// they usually do, and as a replica whether they are like its peers'. One thread.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "collector/analytics/peer_group.h"
#include "collector/analytics/season.h"
#include "collector/board.h"
#include "collector/watch/page_features.h"
#include "collector/watch/settings.h"
#include "collector/watch/watch_event.h"
#include "collector/watch/watch_memory.h"

namespace pingloom::collector {

class OwnerWatch {
 public:
  static constexpr std::size_t kMaxFeatures = 4096;

  // Returns nullptr if the owner has no features, or more than kMaxFeatures.
  // `learned` says whether there may be a learned model, which needs a history of samples, and
  // `season` whether there may be a season.
  static std::unique_ptr<OwnerWatch> make(const PagesOfOwner& pages, const WatchSettings& settings,
                                          bool learned = true, bool season = true);

  // Takes over what is known about the same application. Metrics that are new are learned while the
  // others are judged.
  void takeOver(WatchMemory memory);
  // Appends what it knows to `out` (watch_memory.h).
  void write(std::string& out) {
    writeMemory(features_.remember(), detector_, replica_, season_.get(), out);
  }
  // Ends the watch and returns what it knows.
  WatchMemory end() && {
    return {features_.remember(), std::move(detector_), std::move(replica_), std::move(season_)};
  }
  // Tells whether these are the pages and metrics for which it was created.
  bool fits(const PagesOfOwner& pages) const { return features_.fits(pages); }
  // Takes a sample if all pages have been read since the last one, and returns whether it has.
  // Appends what began or ended. `ahead` is UTC less the clock of the pages' times.
  bool observe(const PagesOfOwner& pages, std::vector<WatchEvent>& events, Nanos ahead = 0);
  // Appends what began or ended when the replica was compared with its peers.
  void comparePeers(std::vector<WatchEvent>& events) const;
  // Tells whether this round's values are exported (docs/analytics.md).
  bool exports(Nanos now) { return sampler_.exports(now, state(), features_.slots()); }

  // Whether fit() has something to do, which works on the learned model for so many rows.
  bool wantsFit() const { return detector_.wantsFit(); }
  void fit(std::size_t rows) { detector_.fit(rows); }

  std::size_t features() const { return features_.size(); }
  // The number of features for which a history is kept.
  std::size_t historyFeatures() const { return detector_.keepsHistory() ? features_.size() : 0; }
  // Groups with the same fingerprint have the same features.
  std::size_t fingerprint() const { return features_.fingerprint(); }
  // Which groups are its replicas: those with the same value of this label, if all of its metrics
  // have it, and otherwise those of its application.
  void compareBy(const std::string& label);
  // How it is compared with them. REQUIRES: settings within their bounds.
  void compareWith(const analytics::PeerSettings& settings) { replica_.set(settings); }
  // The same for replicas of each other.
  const std::string& peers() const { return peers_; }
  analytics::Replica& replica() { return replica_; }
  bool anomalous() const {
    return limits_.anomalous() || verdict_.anomalous || replica_.verdict().anomalous ||
           seasonVerdict().anomalous;
  }
  bool hasSeason() const { return season_ != nullptr; }
  analytics::GroupState state() const;
  // The largest of the detector's score and those of the season and of the comparison with peers.
  double score() const;
  bool judged() const {
    return verdict_.judged || replica_.verdict().judged || seasonVerdict().judged;
  }
  // What deviates most now, if there is an anomaly.
  std::vector<Deviation> deviations() const;
  struct Exceeded {
    std::string metric;
    bool now = false;
  };
  const std::vector<Exceeded>& exceeded() const { return exceeded_; }
  const analytics::AdaptiveSampler& sampler() const { return sampler_; }

 private:
  struct Verdict {
    bool judged = false;
    bool anomalous = false;
    bool learning = true;
    double score = 0;
  };

  OwnerWatch(PageFeatures features, std::vector<analytics::ThresholdRule> rules,
             const analytics::SubspaceSettings& subspace, const analytics::SamplerSettings& sampler,
             bool season);

  void setState(analytics::GroupState state);
  WatchEvent eventOf(std::string_view kind, bool began) const;
  WatchEvent anomalyEvent(bool began, double score) const;
  const analytics::SeasonVerdict& seasonVerdict() const;  // not judged without a season
  void observeDetector(std::vector<WatchEvent>& events);
  void observeSeason(const Instant& at, std::vector<WatchEvent>& events);
  std::vector<Deviation> detectorDeviations() const;
  std::vector<Deviation> seasonDeviations() const;
  std::vector<Deviation> peerDeviations() const;
  std::string nameOf(std::size_t feature) const;

  PageFeatures features_;
  analytics::ThresholdDetector limits_;
  analytics::SubspaceDetector detector_;
  analytics::Replica replica_;
  std::string peers_;
  std::unique_ptr<analytics::Season> season_;  // nullptr without one
  analytics::AdaptiveSampler sampler_;
  std::span<const double> sample_;  // the latest one
  std::vector<Exceeded> exceeded_;
  Verdict verdict_;
  Nanos last_read_ = 0;
};

}  // namespace pingloom::collector
