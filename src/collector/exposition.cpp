#include "collector/exposition.h"

#include <algorithm>
#include <bit>
#include <iterator>
#include <utility>

namespace pingloom::collector {
namespace {

// Returns the suffixes of a family's samples.
std::vector<std::string_view> sampleSuffixes(pingloom_metric_kind kind) {
  switch (kind) {
    case PINGLOOM_COUNTER:
      return {"_total", "_created"};
    case PINGLOOM_HISTOGRAM:
      return {"_bucket", "_count", "_sum", "_created"};
    case PINGLOOM_INFO:
      return {"_info"};
    case PINGLOOM_GAUGE:
      break;
  }
  return {};
}

// Tells whether the name belongs to the collector's own metrics.
bool isOwnName(std::string_view name) {
  return name.starts_with("pingloom_collector_") || name.starts_with("process_");
}

// `own` are the metric's labels.
LabelText labelsOf(const AgentView& agent, const PageInfo& page, const pages::Labels& own) {
  std::map<std::string, std::string> labels;
  const auto take = [&](const pages::Labels& from) {
    for (const auto& [name, value] : from) {
      const bool reserved = name == "host" || name == "application" || name == "pid" ||
                            (name == "owner" && page.numbered);
      labels.emplace(reserved ? "exported_" + name : name, value);
    }
  };
  take(own);
  take(page.labels);
  labels["host"] = agent.host;
  labels["application"] = page.application;
  labels["pid"] = std::to_string(page.process);
  if (page.numbered) labels["owner"] = std::to_string(page.owner);
  LabelText text;
  for (const auto& [name, value] : labels) text.add(name, value);
  return text;
}

void addSamples(MetricsText& out, const LabelText& labels, const PageView& page,
                const pages::Metric& metric) {
  const std::uint64_t* slots = page.values.data() + metric.first_slot;
  switch (metric.kind) {
    case PINGLOOM_COUNTER:
      return out.sample(slots[0], labels);
    case PINGLOOM_GAUGE:
      return out.sample(std::bit_cast<double>(slots[0]), labels);
    case PINGLOOM_HISTOGRAM: {
      const auto upper = [&](std::size_t bucket) {
        const auto units = pingloom_histogram_upper(metric.shape, static_cast<unsigned>(bucket));
        return static_cast<double>(units) * metric.unit;
      };
      return out.histogram({slots + 1, pingloom_histogram_buckets(metric.shape)}, upper,
                           static_cast<double>(slots[0]) * metric.unit, labels);
    }
    case PINGLOOM_INFO:
      return out.sample(1, labels);
  }
}

}  // namespace

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
    for (const pages::Metric& metric : page.info->schema) {
      // The owner publishes its slots after it has defined them.
      if (metric.first_slot + metric.slots > page.slots) continue;
      if (metric.labels.empty()) {
        addMetric(common, page, metric);
      } else {
        addMetric(labelsOf(agent, *page.info, metric.labels), page, metric);
      }
    }
  }
}

// Returns nullptr if a family of another kind has the name, or its samples' names are taken.
Exposition::Family* Exposition::familyOf(const pages::Metric& metric) {
  const std::string_view type = pages::name(metric.kind);
  const std::string_view name = MetricsText::familyName(metric.name, type, format_);
  const auto known = families_.find(name);
  if (known != families_.end()) {
    return known->second.kind == metric.kind ? &known->second : nullptr;
  }
  std::vector<std::string> names = {std::string(name)};
  for (const std::string_view suffix : sampleSuffixes(metric.kind)) {
    names.push_back(std::string(name).append(suffix));
  }
  const bool taken = std::any_of(names.begin(), names.end(),
                                 [this](const auto& one) { return names_.contains(one); });
  if (taken || isOwnName(name)) return nullptr;
  Family made{metric.kind, MetricsText(format_), {}};
  made.text.family(metric.name, type, metric.help);
  Family* const family = &families_.emplace(name, std::move(made)).first->second;
  names_.insert(std::make_move_iterator(names.begin()), std::make_move_iterator(names.end()));
  return family;
}

void Exposition::addMetric(const LabelText& labels, const PageView& page,
                           const pages::Metric& metric) {
  Family* const family = familyOf(metric);
  if (family == nullptr) {
    ++counters_.conflicts;
  } else if (!family->series.insert(labels.text()).second) {
    ++counters_.duplicates;
  } else {
    ++counters_.series;
    addSamples(family->text, labels, page, metric);
  }
}

std::string Exposition::text() const {
  std::size_t bytes = 0;
  for (const auto& [name, family] : families_) bytes += family.text.text().size();
  std::string out;
  out.reserve(bytes);
  for (const auto& [name, family] : families_) out += family.text.text();
  return out;
}

}  // namespace pingloom::collector
