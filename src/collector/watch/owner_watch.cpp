#include "collector/watch/owner_watch.h"

#include <algorithm>
#include <utility>

#include "common/time.h"

namespace pingloom::collector {
namespace {

using analytics::SlotKind;
using analytics::ThresholdRule;

// Returns the name of a slot in events: its metric with its labels.
std::string slotName(const pages::Metric& metric) {
  std::string name = metric.name;
  for (std::size_t i = 0; i < metric.labels.size(); ++i) {
    name += (i == 0 ? "{" : ",") + metric.labels[i].first + "=" + metric.labels[i].second;
  }
  return metric.labels.empty() ? name : name + "}";
}

void addRules(const pages::Metric& metric, std::size_t slot, const WatchSettings& settings,
              std::vector<ThresholdRule>& rules) {
  for (const MetricLimit& limit : settings.limits) {
    // only counters and gauges have one slot
    if (limit.metric != metric.name || metric.slots != 1) continue;
    ThresholdRule rule;
    rule.metric = slotName(metric);
    rule.slot = slot;
    rule.of = metric.kind == PINGLOOM_GAUGE ? ThresholdRule::Of::kValue : ThresholdRule::Of::kRate;
    rule.side = limit.side;
    rule.limit = limit.limit / metric.unit;
    rule.unit = metric.unit;
    rule.hysteresis = limit.hysteresis;
    rules.push_back(std::move(rule));
  }
}

}  // namespace

std::unique_ptr<OwnerWatch> OwnerWatch::make(const PagesOfOwner& pages,
                                             const WatchSettings& settings, bool learned) {
  std::vector<Layout> layout;
  std::vector<SlotKind> kinds;
  std::vector<std::string> names;
  std::vector<ThresholdRule> rules;
  for (const PageView* page : pages) {
    const PageInfo& info = *page->info;
    const std::size_t first = kinds.size();
    layout.push_back({info.generation, info.schema_version, info.slots});
    // Slots between metrics stay 0, which is harmless.
    kinds.resize(first + info.slots, SlotKind::kCounter);
    names.resize(first + info.slots);
    for (const pages::Metric& metric : info.schema) {
      const bool gauge = metric.kind == PINGLOOM_GAUGE;
      for (std::size_t slot = metric.first_slot; slot < metric.first_slot + metric.slots; ++slot) {
        kinds[first + slot] = gauge ? SlotKind::kGauge : SlotKind::kCounter;
        names[first + slot] = slotName(metric);
      }
      addRules(metric, first + metric.first_slot, settings, rules);
    }
  }
  if (kinds.empty()) return nullptr;
  auto subspace = settings.subspaceOf(pages.front()->info->application);
  subspace.learned = subspace.learned && learned;
  const bool watched = kinds.size() <= kMaxSlots &&
                       analytics::SubspaceDetector::check(subspace, kinds.size()) &&
                       analytics::ThresholdDetector::check(rules, kinds.size());
  if (!watched) return nullptr;
  return std::unique_ptr<OwnerWatch>(new OwnerWatch(std::move(layout), std::move(kinds),
                                                    std::move(names), std::move(rules), subspace,
                                                    settings.sampler));
}

OwnerWatch::OwnerWatch(std::vector<Layout> layout, std::vector<SlotKind> kinds,
                       std::vector<std::string> names, std::vector<ThresholdRule> rules,
                       const analytics::SubspaceSettings& subspace,
                       const analytics::SamplerSettings& sampler)
    : layout_(std::move(layout)),
      kinds_(kinds.size()),
      names_(std::move(names)),
      rates_(std::move(kinds)),
      limits_(std::move(rules)),
      detector_(kinds_, subspace),
      sampler_(sampler),
      raw_(kinds_),
      sample_(kinds_) {}

bool OwnerWatch::fits(const PagesOfOwner& pages) const {
  return std::equal(pages.begin(), pages.end(), layout_.begin(), layout_.end(),
                    [](const PageView* page, const Layout& layout) {
                      return Layout{page->info->generation, page->info->schema_version,
                                    page->info->slots} == layout;
                    });
}

analytics::GroupState OwnerWatch::state() const {
  if (anomalous()) return analytics::GroupState::kAnomalous;
  return verdict_.learning ? analytics::GroupState::kLearning : analytics::GroupState::kQuiet;
}

void OwnerWatch::observe(const PagesOfOwner& pages, std::vector<WatchEvent>& events) {
  Nanos read = 0;
  std::size_t slot = 0;
  for (const PageView* page : pages) {
    const std::size_t slots = page->info->slots;
    if (page->state != PageState::kFresh || page->read <= last_read_ || page->slots < slots) return;
    read = std::max(read, page->read);
    std::copy_n(page->values.begin(), slots, raw_.begin() + static_cast<std::ptrdiff_t>(slot));
    slot += slots;
  }
  last_read_ = read;
  rates_.update(read, raw_, sample_);
  const PageInfo& info = *pages.front()->info;
  const auto event = [&](std::string kind, bool began, std::string metric, double value,
                         double limit) {
    events.push_back({utcNow(), "", info.application, info.process, info.owner, std::move(kind),
                      began, std::move(metric), value, limit});
  };
  // A rule's slot has either the rate of a counter or the value of a gauge.
  exceeded_.clear();
  for (const auto& verdict : limits_.observe(sample_, sample_)) {
    exceeded_.push_back({verdict.rule->metric, verdict.anomalous});
    if (!verdict.changed) continue;
    const ThresholdRule& rule = *verdict.rule;
    event("limit", verdict.anomalous, rule.metric, verdict.value * rule.unit,
          rule.limit * rule.unit);
  }
  const auto& found = detector_.observe(sample_);
  verdict_.learning = found.state == analytics::GroupState::kLearning;
  verdict_.anomalous = found.state == analytics::GroupState::kAnomalous;
  verdict_.judged = found.judged;
  if (found.judged) verdict_.score = found.score;
  if (!found.changed) return;
  const std::string top = found.top_count == 0 ? "" : names_[found.top[0].slot];
  event("anomaly", verdict_.anomalous, top, found.score, 1);
}

}  // namespace pingloom::collector
