#include "collector/exposition.h"

#include <algorithm>
#include <bit>
#include <optional>
#include <span>
#include <utility>

#include "collector/native_buckets.h"
#include "collector/summary_values.h"
#include "pages/registration.h"

namespace pingloom::collector {
namespace {

// `own` are the metric's labels.
LabelText labelsOf(const AgentView& agent, const PageInfo& page, const pages::Labels& own,
                   bool summary = false) {
  std::map<std::string, std::string> labels;
  const auto take = [&](const pages::Labels& from) {
    for (const auto& [name, value] : from) {
      const bool reserved = name == "host" || name == "application" || name == "pid" ||
                            (name == "owner" && page.numbered) || name == "pod_uid" ||
                            name == "container_id" || (name == pages::kQuantileLabel && summary);
      labels.emplace(reserved ? "exported_" + name : name, value);
    }
  };
  take(own);
  take(page.labels);
  labels["host"] = agent.host;
  labels["application"] = page.application;
  labels["pid"] = std::to_string(page.process);
  if (page.numbered) labels["owner"] = std::to_string(page.owner);
  if (!page.pod.uid.empty()) labels["pod_uid"] = page.pod.uid;
  if (!page.pod.container.empty()) labels["container_id"] = page.pod.container;
  LabelText text;
  for (const auto& [name, value] : labels) text.add(name, value);
  return text;
}

// Only a shape's buckets are regular enough for native histograms.
std::optional<int> schemaOf(const pages::Metric& metric) {
  if (metric.bounded()) return std::nullopt;
  return nativeSchema(metric.shape, metric.unit);
}

// Bounds that an application chose itself are all shown.
std::size_t stepOf(const pages::Metric& metric, bool exact) {
  return exact || metric.bounded() ? 1 : std::size_t{1} << metric.shape.precision;
}

// Tells whether the metric has a value that can be shown: formats have no total below 0, and no
// NaN.
bool isShown(const PageView& page, const pages::Metric& metric) {
  return !metric.fractions || std::bit_cast<double>(page.values[metric.first_slot]) >= 0;
}

MetricValue counterValue(const pages::Metric& metric, std::uint64_t slot) {
  if (metric.fractions) return std::bit_cast<double>(slot);
  if (metric.unit == 1) return slot;
  return pages::UnitScale(metric.unit)(static_cast<double>(slot));
}

void addSamples(MetricsWriter& out, const LabelText& labels, const PageView& page,
                const pages::Metric& metric, bool exact,
                std::span<const MetricExemplar> exemplars) {
  const std::uint64_t* slots = page.values.data() + metric.first_slot;
  switch (metric.kind) {
    case PINGLOOM_COUNTER: {
      const MetricValue value = counterValue(metric, slots[0]);
      if (exemplars.empty()) return out.sample(value, labels);
      return out.sample(value, labels, exemplars.front());
    }
    case PINGLOOM_GAUGE:
      return out.sample(std::bit_cast<double>(slots[0]), labels);
    case PINGLOOM_HISTOGRAM: {
      const pages::UnitScale scale(metric.unit);
      const auto upper = [&](std::size_t bucket) { return upperBound(metric, scale, bucket); };
      return out.histogram({{slots + 1, metric.slots - std::size_t{1}},
                            upper,
                            scale(static_cast<double>(slots[0])),
                            schemaOf(metric),
                            stepOf(metric, exact),
                            exemplars},
                           labels);
    }
    case PINGLOOM_SUMMARY:
      return out.summary(summaryOf(metric, {slots, metric.slots}), labels);
    case PINGLOOM_INFO:
      return out.sample(1, labels);
  }
}

}  // namespace

std::optional<bool> exactHistograms(std::string_view word) {
  if (word == "exact") return true;
  if (word == "compact") return false;
  return std::nullopt;
}

bool Exposition::isCurrent(const PageView& page, Nanos interval, Nanos now) {
  return page.state != PageState::kStale && page.read != 0 &&
         now - page.read < kStaleAfter + interval;
}

void Exposition::add(const AgentView& agent, Nanos now) {
  const bool any = std::any_of(agent.pages.begin(), agent.pages.end(), [&](const PageView& page) {
    return isCurrent(page, agent.interval, now);
  });
  if (!any) return;  // such an agent does not claim its host's name either
  if (!agent.host.empty() && !hosts_.insert(agent.host).second) {
    counters_.hosts += agent.pages.size();
    return;
  }
  for (const PageView& page : agent.pages) {
    if (!isCurrent(page, agent.interval, now)) continue;
    const LabelText common = labelsOf(agent, *page.info, {});
    for (std::size_t i = 0; i < page.info->schema.size(); ++i) {
      const pages::Metric& metric = page.info->schema[i];
      if (!page.has(i)) continue;
      const bool summary = metric.kind == PINGLOOM_SUMMARY;
      if (metric.labels.empty() && !summary) {
        addMetric(common, page, i);
      } else {
        addMetric(labelsOf(agent, *page.info, metric.labels, summary), page, i);
      }
    }
  }
}

Exposition::Family& Exposition::familyOf(const FamilyName& family, std::string_view help) {
  const auto known = families_.find(family.shown);
  if (known != families_.end()) return known->second;
  if (!family.conflict.empty()) ++counters_.renamed;
  return addFamily(family.shown, pages::name(family.kind), help);
}

Exposition::Family& Exposition::addFamily(std::string_view name, std::string_view type,
                                          std::string_view help) {
  Family made{make_writer_(), {}};
  made.out->family(name, type, help);
  return families_.emplace(name, std::move(made)).first->second;
}

void Exposition::addMetric(const LabelText& labels, const PageView& page, std::size_t index) {
  const pages::Metric& metric = page.info->schema[index];
  const FamilyName& name = *page.families[index];
  if (name.shown.empty()) {
    ++counters_.conflicts;
    return;
  }
  if (!isShown(page, metric)) return;
  Family& family = familyOf(name, metric.help);
  if (!family.series.insert(labels.text()).second) {
    ++counters_.duplicates;
    return;
  }
  ++counters_.series;
  std::vector<MetricExemplar> exemplars;
  if (metric.exemplars && now_utc_ != 0 && family.out->hasExemplars()) {
    exemplars = exemplarsOf(page, metric, now_utc_, counters_.exemplars);
  }
  addSamples(*family.out, labels, page, metric, exact_, exemplars);
}

void Exposition::addOwnProcess() {
  for (const ProcessMetric& metric : processMetrics()) {
    addFamily(metric.name, metric.type, metric.help).out->sample(metric.value);
  }
}

std::string Exposition::take() {
  std::vector<std::string> parts;
  parts.reserve(families_.size());
  std::size_t bytes = 0;
  for (const auto& [name, family] : families_) {
    bytes += parts.emplace_back(family.out->take()).size();
  }
  std::string out;
  out.reserve(bytes);
  for (const std::string& part : parts) out += part;
  return out;
}

}  // namespace pingloom::collector
