#include "collector/watch/owner_watch.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "common/time.h"

namespace pingloom::collector {
namespace {

using analytics::ThresholdRule;

constexpr std::string_view kPeers = "peers";
constexpr std::string_view kSeason = "season";

void addRules(const pages::Metric& metric, const std::string& name, std::size_t feature,
              const WatchSettings& settings, std::vector<ThresholdRule>& rules) {
  for (const MetricLimit& limit : settings.limits) {
    // only counters and gauges have one slot
    if (limit.metric != metric.name || metric.slots != 1) continue;
    ThresholdRule rule;
    rule.metric = name;
    rule.slot = feature;
    rule.of = metric.kind == PINGLOOM_GAUGE ? ThresholdRule::Of::kValue : ThresholdRule::Of::kRate;
    rule.side = limit.side;
    rule.limit = limit.limit;
    rule.hysteresis = limit.hysteresis;
    rules.push_back(std::move(rule));
  }
}

}  // namespace

std::unique_ptr<OwnerWatch> OwnerWatch::make(const PagesOfOwner& pages,
                                             const WatchSettings& settings, bool learned,
                                             bool season) {
  std::size_t count = 0;
  for (const PageView* page : pages) count += PageFeatures::countOf(page->info->schema);
  if (count == 0 || count > kMaxFeatures) return nullptr;
  PageFeatures features(pages);
  std::vector<ThresholdRule> rules;
  for (std::size_t i = 0; i < count; ++i) {
    addRules(features.metricOf(i), features.all()[i].metric, i, settings, rules);
  }
  auto subspace = settings.subspaceOf(pages.front()->info->application);
  subspace.learned = subspace.learned && learned;
  const bool watched = analytics::SubspaceDetector::check(subspace, count) &&
                       analytics::ThresholdDetector::check(rules, count);
  if (!watched) return nullptr;
  std::unique_ptr<OwnerWatch> made(
      new OwnerWatch(std::move(features), std::move(rules), subspace, settings.sampler, season));
  made->compareBy(settings.peers_label);
  made->compareWith(settings.peersOf(made->features_.firstInfo().application));
  return made;
}

void OwnerWatch::compareBy(const std::string& label) {
  peers_ = features_.firstInfo().application;
  const std::string value = label.empty() ? "" : features_.valueOfLabel(label);
  // No application has such a name.
  if (!value.empty()) peers_ = label + '\n' + value;
}

OwnerWatch::OwnerWatch(PageFeatures features, std::vector<ThresholdRule> rules,
                       const analytics::SubspaceSettings& subspace,
                       const analytics::SamplerSettings& sampler, bool season)
    : features_(std::move(features)),
      limits_(std::move(rules)),
      detector_(features_.size(), subspace),
      replica_(features_.size()),
      sampler_(sampler) {
  const std::vector<bool> rates = features_.rates();
  const bool any = std::find(rates.begin(), rates.end(), true) != rates.end();
  if (!any || !season || !subspace.season) return;
  season_ = std::make_unique<analytics::Season>(rates, subspace.relearn_after);
}

void OwnerWatch::takeOver(WatchMemory memory) {
  const std::vector<std::size_t> from = features_.takeOver(memory.metrics);
  replica_.takeOver(memory.replica, from);
  if (season_ != nullptr && memory.season != nullptr) season_->takeOver(*memory.season, from);
  const bool allowed = detector_.mayLearn();
  detector_ = std::move(memory.detector);
  detector_.rearrange(from, allowed);
  setState(detector_.groupState());
}

void OwnerWatch::setState(analytics::GroupState state) {
  verdict_.learning = state == analytics::GroupState::kLearning;
  verdict_.anomalous = state == analytics::GroupState::kAnomalous;
}

analytics::GroupState OwnerWatch::state() const {
  if (anomalous()) return analytics::GroupState::kAnomalous;
  return verdict_.learning ? analytics::GroupState::kLearning : analytics::GroupState::kQuiet;
}

double OwnerWatch::score() const {
  double score = verdict_.score;
  if (replica_.verdict().judged) score = std::max(score, replica_.verdict().score);
  if (seasonVerdict().judged) score = std::max(score, seasonVerdict().score);
  return score;
}

const analytics::SeasonVerdict& OwnerWatch::seasonVerdict() const {
  static const analytics::SeasonVerdict none;
  return season_ != nullptr ? season_->latest() : none;
}

bool OwnerWatch::observe(const PagesOfOwner& pages, std::vector<WatchEvent>& events, Nanos ahead) {
  Nanos read = 0;
  for (const PageView* page : pages) {
    const std::size_t slots = page->info->slots;
    const auto& unread = page->unread;
    const bool whole = page->slots >= slots && std::count(unread.begin(), unread.end(), true) == 0;
    if (page->state != PageState::kFresh || page->read <= last_read_ || !whole) return false;
    read = std::max(read, page->read);
  }
  last_read_ = read;
  sample_ = features_.update(read, pages);
  replica_.observe(sample_);
  // A rule's feature is either the rate of a counter or the value of a gauge.
  exceeded_.clear();
  for (const auto& verdict : limits_.observe(sample_, sample_)) {
    exceeded_.push_back({verdict.rule->metric, verdict.anomalous});
    if (!verdict.changed) continue;
    WatchEvent event = eventOf("limit", verdict.anomalous);
    event.metric = verdict.rule->metric;
    event.value = verdict.value;
    event.limit = verdict.rule->limit;
    events.push_back(std::move(event));
  }
  observeSeason({read, read + ahead}, events);
  observeDetector(events);
  return true;
}

void OwnerWatch::observeSeason(const Instant& at, std::vector<WatchEvent>& events) {
  if (season_ == nullptr) return;
  const auto& found = season_->observe(at, sample_);
  if (!found.changed) return;
  WatchEvent event = anomalyEvent(found.anomalous, found.score);
  event.statistic = kSeason;
  if (found.top_count != 0) event.metric = nameOf(found.top[0].slot);
  if (event.began) event.deviations = seasonDeviations();
  events.push_back(std::move(event));
}

void OwnerWatch::observeDetector(std::vector<WatchEvent>& events) {
  const auto known = season_ != nullptr ? season_->jumps() : analytics::LoadJumps{};
  const auto& found = detector_.observe(sample_, features_.least(), known);
  setState(found.state);
  verdict_.judged = found.judged;
  if (found.judged) verdict_.score = found.score;
  if (season_ != nullptr && found.judged) {
    season_->learnJump(found.load_jump, found.load_score);
  }
  if (!found.changed) return;
  WatchEvent event = anomalyEvent(verdict_.anomalous, found.score);
  if (found.top_count != 0) event.metric = nameOf(found.top[0].slot);
  if (event.began) {
    event.statistic = name(found.statistic);
    event.deviations = detectorDeviations();
  }
  events.push_back(std::move(event));
}

void OwnerWatch::comparePeers(std::vector<WatchEvent>& events) const {
  const analytics::PeerVerdict& found = replica_.verdict();
  if (!found.changed) return;
  WatchEvent event = anomalyEvent(found.anomalous, found.score);
  event.statistic = kPeers;
  if (found.top_count != 0) event.metric = nameOf(found.top[0].metric);
  if (event.began) event.deviations = peerDeviations();
  events.push_back(std::move(event));
}

std::vector<Deviation> OwnerWatch::deviations() const {
  std::vector<Deviation> found;
  if (verdict_.anomalous) found = detectorDeviations();
  if (seasonVerdict().anomalous) {
    for (Deviation& deviation : seasonDeviations()) found.push_back(std::move(deviation));
  }
  if (replica_.verdict().anomalous) {
    for (Deviation& deviation : peerDeviations()) found.push_back(std::move(deviation));
  }
  return found;
}

WatchEvent OwnerWatch::eventOf(std::string_view kind, bool began) const {
  WatchEvent event;
  event.utc = utcNow();
  const PageInfo& info = features_.firstInfo();
  event.application = info.application;
  event.pid = info.process;
  event.owner = info.owner;
  event.kind = kind;
  event.began = began;
  return event;
}

WatchEvent OwnerWatch::anomalyEvent(bool began, double score) const {
  WatchEvent event = eventOf("anomaly", began);
  event.value = score;
  event.limit = 1;
  return event;
}

// The metrics that are unusual by themselves; the first one if only all of them together are.
std::vector<Deviation> OwnerWatch::detectorDeviations() const {
  std::vector<Deviation> found;
  const analytics::SubspaceVerdict& verdict = detector_.latest();
  for (const auto& top : std::span(verdict.top).first(verdict.top_count)) {
    if (!found.empty() && std::abs(top.score) <= 1) continue;
    const Feature& feature = features_.all()[top.slot];
    found.push_back({feature.metric, feature.part, name(top.statistic), top.score,
                     sample_[top.slot], std::nullopt, std::nullopt});
  }
  return found;
}

std::vector<Deviation> OwnerWatch::seasonDeviations() const {
  std::vector<Deviation> found;
  const analytics::SeasonVerdict& verdict = seasonVerdict();
  for (const auto& low : std::span(verdict.top).first(verdict.top_count)) {
    if (!found.empty() && low.score >= -1) continue;
    const Feature& feature = features_.all()[low.slot];
    found.push_back(
        {feature.metric, feature.part, kSeason, low.score, low.value, std::nullopt, low.usual});
  }
  return found;
}

std::vector<Deviation> OwnerWatch::peerDeviations() const {
  std::vector<Deviation> found;
  const analytics::PeerVerdict& verdict = replica_.verdict();
  for (const auto& top : std::span(verdict.top).first(verdict.top_count)) {
    if (!found.empty() && std::abs(top.score) <= 1) continue;
    const Feature& feature = features_.all()[top.metric];
    found.push_back(
        {feature.metric, feature.part, kPeers, top.score, top.value, top.peers, std::nullopt});
  }
  return found;
}

std::string OwnerWatch::nameOf(std::size_t feature) const {
  const Feature& named = features_.all()[feature];
  return named.part.empty() ? named.metric : named.metric + " " + named.part;
}

}  // namespace pingloom::collector
