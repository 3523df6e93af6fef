#include "collector/watch/page_features.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <iterator>
#include <limits>
#include <map>
#include <numeric>
#include <string_view>
#include <utility>

#include "collector/histogram_summary.h"
#include "pages/registration.h"

namespace pingloom::collector {
namespace {

using analytics::SlotKind;

constexpr std::size_t kOfHistogram = MetricMemory::kOfHistogram;
constexpr std::array<const char*, kOfHistogram> kParts = {"rate", "mean", "p50", "p99"};
// Which parts are which quantiles.
constexpr std::array<std::pair<std::size_t, double>, 2> kQuantiles = {{{2, 0.50}, {3, 0.99}}};
constexpr std::size_t kSumOfSummary = 1;  // its slot

constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();

// "p99.9"
std::string quantileName(double rank) { return fmt::format("p{:.10g}", rank * 100); }

// How OpenTelemetry's names of the resources begin that tell one instance of an application from
// another.
constexpr std::array<std::string_view, 6> kInstanceNames = {"k8s_",     "container_", "host_",
                                                            "process_", "cloud_",     "service_"};

bool has(const pages::Metric& metric, const pages::Labels::value_type& label) {
  return std::find(metric.labels.begin(), metric.labels.end(), label) != metric.labels.end();
}

// The labels that say which instance of an application the owner is, such as its pod: all of its
// metrics have them. Without them, metrics of the same name are still told apart.
pages::Labels instanceLabels(const PagesOfOwner& pages) {
  pages::Labels found;
  bool first = true;
  for (const PageView* page : pages) {
    for (const pages::Metric& metric : page->info->schema) {
      if (std::exchange(first, false)) {
        std::copy_if(metric.labels.begin(), metric.labels.end(), std::back_inserter(found),
                     [](const auto& label) {
                       return std::any_of(
                           kInstanceNames.begin(), kInstanceNames.end(),
                           [&](std::string_view begin) { return label.first.starts_with(begin); });
                     });
      }
      found.erase(std::remove_if(found.begin(), found.end(),
                                 [&](const auto& label) { return !has(metric, label); }),
                  found.end());
    }
  }
  return found;
}

// The metric with its labels but those of the instance: replicas have the same names, and so has an
// application that is started again.
std::string nameOf(const pages::Metric& metric, const pages::Labels& instance) {
  std::string labels;
  for (const auto& label : metric.labels) {
    if (std::find(instance.begin(), instance.end(), label) != instance.end()) continue;
    labels += (labels.empty() ? "" : ",") + label.first + "=" + label.second;
  }
  return labels.empty() ? metric.name : metric.name + "{" + labels + "}";
}

std::vector<SlotKind> kindsOf(const PagesOfOwner& pages) {
  std::vector<SlotKind> kinds;
  for (const PageView* page : pages) {
    const std::size_t first = kinds.size();
    kinds.resize(first + page->info->slots, SlotKind::kCounter);
    for (const pages::Metric& metric : page->info->schema) {
      const auto slot = kinds.begin() + static_cast<std::ptrdiff_t>(first + metric.first_slot);
      if (metric.kind == PINGLOOM_GAUGE) *slot = SlotKind::kGauge;
      if (metric.fractions) *slot = SlotKind::kFractions;
      if (metric.kind == PINGLOOM_SUMMARY) {
        slot[kSumOfSummary] = SlotKind::kSum;
        std::fill_n(slot + pages::kSummarySlots, metric.quantiles.size(), SlotKind::kGauge);
      }
    }
  }
  return kinds;
}

}  // namespace

std::size_t PageFeatures::countOf(const pages::Schema& schema) {
  std::size_t count = 0;
  for (const pages::Metric& metric : schema) {
    if (metric.slots == 0) continue;  // an info has no value
    if (metric.kind == PINGLOOM_HISTOGRAM) {
      count += kOfHistogram;
    } else {
      count += metric.slots;  // one, or of a summary one for each slot
    }
  }
  return count;
}

PageFeatures::PageFeatures(const PagesOfOwner& pages) : rates_(kindsOf(pages)) {
  raw_.resize(rates_.slots());
  sample_.resize(rates_.slots());
  recent_.resize(rates_.slots());
  std::size_t slot = 0;
  const pages::Labels instance = instanceLabels(pages);
  for (const PageView* page : pages) {
    infos_.push_back(page->info);
    for (const pages::Metric& metric : page->info->schema) {
      addMetric(metric, nameOf(metric, instance), slot + metric.first_slot);
    }
    slot += page->info->slots;
  }
  values_.resize(features_.size());
  least_.resize(features_.size());
  errors_.resize(features_.size());
  std::string names;
  for (const Source& source : sources_) {
    names.append(keyOf(source)).append("\n");
    if (source.metric->kind == PINGLOOM_SUMMARY) values_[source.feature] = kUnknown;
  }
  fingerprint_ = std::hash<std::string>()(names);
}

void PageFeatures::addSummary(const pages::Metric& metric, const std::string& name,
                              std::size_t slot) {
  for (std::size_t part = 0; part < metric.slots; ++part) {
    sources_.push_back({&metric, pages::UnitScale(1), slot + part, features_.size(), part});
    features_.push_back({name, part < pages::kSummarySlots
                                   ? kParts[part]
                                   : quantileName(metric.quantiles[part - pages::kSummarySlots])});
  }
}

std::string PageFeatures::keyOf(const Source& source) const {
  const auto& [metric, part] = features_[source.feature];
  return source.metric->kind == PINGLOOM_SUMMARY ? metric + " " + part : metric;
}

void PageFeatures::addMetric(const pages::Metric& metric, const std::string& name,
                             std::size_t slot) {
  if (metric.slots == 0) return;
  if (metric.kind == PINGLOOM_SUMMARY) return addSummary(metric, name, slot);
  sources_.push_back({&metric, pages::UnitScale(metric.unit), slot, features_.size()});
  if (metric.kind == PINGLOOM_HISTOGRAM) {
    for (const char* part : kParts) features_.push_back({name, part});
  } else {
    features_.push_back({name, ""});
  }
}

bool PageFeatures::fits(const PagesOfOwner& pages) const {
  return std::equal(pages.begin(), pages.end(), infos_.begin(), infos_.end(),
                    [](const PageView* page, const auto& known) {
                      const PageInfo& info = *page->info;
                      return info.generation == known->generation && info.slots == known->slots &&
                             info.schema_version == known->schema_version;
                    });
}

std::string PageFeatures::valueOfLabel(std::string_view name) const {
  std::optional<std::string> value;
  for (const auto& info : infos_) {
    for (const pages::Metric& metric : info->schema) {
      const auto label = std::find_if(metric.labels.begin(), metric.labels.end(),
                                      [&](const auto& each) { return each.first == name; });
      if (label == metric.labels.end() || (value && *value != label->second)) return {};
      value = label->second;
    }
  }
  return value.value_or("");
}

std::vector<bool> PageFeatures::rates() const {
  std::vector<bool> rates(features_.size());
  for (const Source& source : sources_) {
    rates[source.feature] = source.metric->kind != PINGLOOM_GAUGE && source.part == 0;
  }
  return rates;
}

MetricMemories PageFeatures::remember() const {
  MetricMemories memories;
  for (const Source& source : sources_) {
    MetricMemory& memory = memories.emplace_back();
    memory.name = keyOf(source);
    memory.kind = static_cast<std::uint8_t>(source.metric->kind);
    memory.slots = source.metric->slots;
    if (source.metric->kind != PINGLOOM_HISTOGRAM) continue;
    const auto value = values_.begin() + static_cast<std::ptrdiff_t>(source.feature) + 1;
    std::copy_n(value, memory.values.size(), memory.values.begin());
    const auto bucket = recent_.begin() + static_cast<std::ptrdiff_t>(source.slot) + 1;
    memory.recent.assign(bucket, bucket + memory.slots - 1);
  }
  return memories;
}

std::vector<std::size_t> PageFeatures::takeOver(const MetricMemories& others) {
  struct Origin {
    const MetricMemory* metric;
    std::size_t feature;  // its first one
  };
  std::map<std::string_view, Origin> origins;
  std::size_t features = 0;
  for (const MetricMemory& other : others) {
    origins.try_emplace(other.name, Origin{&other, features});
    features += other.features();
  }
  std::vector<std::size_t> from(size(), analytics::kNewSlot);
  for (const Source& source : sources_) {
    // Each one is taken once, because pages may repeat a metric.
    const auto found = origins.find(keyOf(source));
    if (found == origins.end()) continue;
    const auto [metric, feature] = found->second;
    origins.erase(found);
    if (metric->kind != static_cast<std::uint8_t>(source.metric->kind)) continue;
    std::iota(from.begin() + static_cast<std::ptrdiff_t>(source.feature),
              from.begin() + static_cast<std::ptrdiff_t>(source.feature + metric->features()),
              feature);
    continueHistogram(source, *metric);
  }
  return from;
}

void PageFeatures::continueHistogram(const Source& source, const MetricMemory& other) {
  const bool same =
      source.metric->kind == PINGLOOM_HISTOGRAM && other.slots == source.metric->slots;
  if (!same) return;
  std::copy(other.values.begin(), other.values.end(),
            values_.begin() + static_cast<std::ptrdiff_t>(source.feature) + 1);
  std::copy(other.recent.begin(), other.recent.end(),
            recent_.begin() + static_cast<std::ptrdiff_t>(source.slot) + 1);
  // The quantiles stay as they are while there are too few values, and so does their error.
  const std::span<const double> recent = other.recent;
  const double total = std::accumulate(recent.begin(), recent.end(), 0.0);
  if (total <= 0) return;
  for (const auto& [part, share] : kQuantiles) {
    learnError(source, part, share, recent, std::max(total, kMinValues));
  }
}

const pages::Metric& PageFeatures::metricOf(std::size_t feature) const {
  return *sourceOf(feature).metric;
}

const PageFeatures::Source& PageFeatures::sourceOf(std::size_t feature) const {
  const auto behind = std::upper_bound(
      sources_.begin(), sources_.end(), feature,
      [](std::size_t number, const Source& source) { return number < source.feature; });
  return *std::prev(behind);
}

std::span<const double> PageFeatures::update(Nanos read, const PagesOfOwner& pages) {
  auto out = raw_.begin();
  for (std::size_t i = 0; i < pages.size(); ++i) {
    out = std::copy_n(pages[i]->values.begin(), infos_[i]->slots, out);
  }
  rates_.update(read, raw_, sample_);
  const double seconds = static_cast<double>(read - last_read_) / kSecond;
  last_read_ = read;
  for (const Source& source : sources_) {
    if (source.metric->kind == PINGLOOM_HISTOGRAM) {
      updateHistogram(source, seconds);
    } else if (source.metric->kind == PINGLOOM_SUMMARY) {
      updateSummary(source);
    } else {
      const bool gauge = source.metric->kind == PINGLOOM_GAUGE;
      const double value = sample_[source.slot];
      values_[source.feature] = gauge ? value : source.scale(value);
    }
  }
  return values_;
}

void PageFeatures::updateSummary(const Source& source) {
  double& value = values_[source.feature];
  const double here = sample_[source.slot];
  const std::size_t first = source.slot - source.part;
  if (source.part == kSumOfSummary) {
    const double rate = sample_[first];
    if (rate > 0 && std::isfinite(here)) value = here / rate;
    return;
  }
  // The rate may be unknown, but a quantile that is not known stays as it was.
  const bool known = raw_[first] > 0 && std::isfinite(here);
  if (source.part == 0 || known) value = here;
}

void PageFeatures::updateHistogram(const Source& source, double seconds) {
  const pages::Metric& metric = *source.metric;
  const std::span<const double> rates{sample_.data() + source.slot, metric.slots};
  const std::span<double> recent{recent_.data() + source.slot + 1, metric.slots - std::size_t{1}};
  double* const values = values_.data() + source.feature;
  double rate = 0;
  for (const double bucket : rates.subspan(1)) rate += bucket;
  values[0] = rate;
  if (!std::isfinite(rate) || !std::isfinite(rates[0])) return;
  if (rate > 0) values[1] = source.scale(rates[0] / rate);
  const double keep = std::exp2(-seconds * kSecond / static_cast<double>(kHalfLife));
  double total = 0;
  for (std::size_t i = 0; i < recent.size(); ++i) {
    recent[i] = recent[i] * keep + rates[i + 1] * seconds;
    total += recent[i];
  }
  if (total < kMinValues) return;
  for (const auto& [part, share] : kQuantiles) {
    values[part] = quantile(metric, recent, share);
    learnError(source, part, share, recent, total);
  }
}

// The share of the values below a quantile is known up to its binomial deviation. The weights fall
// exponentially with age, so all values say as much as twice their sum of values that weigh 1.
// Where there are fewer values, at the edge of a bucket say, a quantile is less certain. That
// counts up to kErrorGrows times what is usual: in an incident that gives a distribution a tail,
// its quantiles are uncertain, and still unusual.
void PageFeatures::learnError(const Source& source, std::size_t part, double share,
                              std::span<const double> recent, double total) {
  const double weight = std::sqrt(2 * total);
  const double error = std::sqrt(share * (1 - share)) / weight;
  const auto at = [&](double rank) { return quantile(*source.metric, recent, rank); };
  const double now = weight * (at(std::min(share + error, 1.0)) - at(share - error)) / 2;
  QuantileError& known = errors_[source.feature + part];
  known.samples = std::min(known.samples + 1, kErrorMemory);
  const bool bounded = known.samples > kErrorSettles && known.usual > 0;
  const double learned = bounded ? std::min(now, 2 * known.usual) : now;
  known.usual += (learned - known.usual) / known.samples;
  const double counts = std::clamp(now, known.usual, kErrorGrows * known.usual);
  least_[source.feature + part] = kErrors * counts / weight;
}

}  // namespace pingloom::collector
