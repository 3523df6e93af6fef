#include "collector/exposition.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <iterator>
#include <limits>

#include "collector/metric_lines.h"

namespace pingloom::collector {
namespace {

// OpenMetrics wants quotes escaped here too, the older format does not have that.
std::string helpText(std::string_view text, Format format) {
  std::string out;
  for (const char c : text) {
    if (c == '\\' || (c == '"' && format == Format::kOpenMetrics)) out += '\\';
    out += c;
  }
  return out;
}

std::string numberText(double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value > 0 ? "+Inf" : "-Inf";
  return fmt::format("{}", value);
}

std::string_view typeName(pingloom_metric_kind kind, Format format) {
  switch (kind) {
    case PINGLOOM_COUNTER:
      return "counter";
    case PINGLOOM_GAUGE:
      return "gauge";
    case PINGLOOM_HISTOGRAM:
      return "histogram";
    case PINGLOOM_INFO:
      return format == Format::kOpenMetrics ? "info" : "gauge";
  }
  return "unknown";
}

// What a family's samples are named like, beside the family itself.
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

// The collector says these of itself.
bool isOwnName(std::string_view name) {
  return name.starts_with("pingloom_collector_") || name.starts_with("process_");
}

// OpenMetrics names a family without what its samples end with.
std::string_view withoutSuffix(std::string_view name, std::string_view suffix) {
  if (name.size() > suffix.size() && name.ends_with(suffix)) name.remove_suffix(suffix.size());
  return name;
}

}  // namespace

std::string_view contentType(Format format) {
  return format == Format::kOpenMetrics
             ? "application/openmetrics-text; version=1.0.0; charset=utf-8"
             : "text/plain; version=0.0.4; charset=utf-8";
}

Format formatFor(std::string_view accept) {
  return accept.find("application/openmetrics-text") != std::string_view::npos
             ? Format::kOpenMetrics
             : Format::kPrometheus;
}

bool Exposition::isCurrent(const PageView& page, Nanos interval, Nanos now) {
  return page.state != PageState::kStale && page.read != 0 &&
         now - page.read < kStaleAfter + interval;
}

void Exposition::add(const AgentView& agent, Nanos now) {
  const bool any = std::any_of(agent.pages.begin(), agent.pages.end(), [&](const PageView& page) {
    return isCurrent(page, agent.interval, now);
  });
  if (!any) return;  // nor does it hold its host's name against one that is read
  if (!agent.host.empty() && !hosts_.insert(agent.host).second) {
    counters_.hosts += agent.pages.size();
    return;
  }
  for (const PageView& page : agent.pages) {
    if (!isCurrent(page, agent.interval, now)) continue;
    for (const pages::Metric& metric : page.info->schema) {
      // The owner publishes its slots after it has defined them.
      if (metric.first_slot + metric.slots <= page.slots) addMetric(agent, page, metric);
    }
  }
}

std::string Exposition::familyName(const pages::Metric& metric) const {
  if (format_ == Format::kOpenMetrics) {
    if (metric.kind == PINGLOOM_COUNTER) return std::string(withoutSuffix(metric.name, "_total"));
    if (metric.kind == PINGLOOM_INFO) return std::string(withoutSuffix(metric.name, "_info"));
  }
  return metric.name;
}

std::string Exposition::labelsOf(const AgentView& agent, const PageInfo& page,
                                 const pages::Metric& metric) const {
  std::map<std::string, std::string> labels;
  const auto take = [&](const pages::Labels& from) {
    for (const auto& [name, value] : from) {
      const bool reserved = name == "host" || name == "application" || name == "pid" ||
                            (name == "owner" && page.numbered);
      labels.emplace(reserved ? "exported_" + name : name, value);
    }
  };
  take(metric.labels);
  take(page.labels);
  labels["host"] = agent.host;
  labels["application"] = page.application;
  labels["pid"] = std::to_string(page.process);
  if (page.numbered) labels["owner"] = std::to_string(page.owner);
  std::string out;
  for (const auto& [name, value] : labels) {
    if (!out.empty()) out += ',';
    out += name;
    out += '=';
    out += quotedLabel(value);
  }
  return out;
}

// nullptr: one of another kind has the name, or a sample's that it would have.
Exposition::Family* Exposition::familyOf(const std::string& name, const pages::Metric& metric) {
  const auto known = families_.find(name);
  if (known != families_.end()) {
    return known->second.kind == metric.kind ? &known->second : nullptr;
  }
  std::vector<std::string> names = {name};
  for (const std::string_view suffix : sampleSuffixes(metric.kind)) {
    names.push_back(name + std::string(suffix));
  }
  const bool taken = std::any_of(names.begin(), names.end(),
                                 [this](const auto& one) { return names_.contains(one); });
  if (taken || isOwnName(name)) return nullptr;
  names_.insert(names.begin(), names.end());
  Family& made = families_[name];
  made.kind = metric.kind;
  made.help = metric.help;
  return &made;
}

void Exposition::addMetric(const AgentView& agent, const PageView& page,
                           const pages::Metric& metric) {
  const std::string name = familyName(metric);
  Family* const found = familyOf(name, metric);
  if (found == nullptr) {
    ++counters_.conflicts;
    return;
  }
  Family& family = *found;
  const std::string labels = labelsOf(agent, *page.info, metric);
  if (!series_.insert(fmt::format("{}{{{}", name, labels)).second) {
    ++counters_.duplicates;
    return;
  }
  ++counters_.series;
  const bool open = format_ == Format::kOpenMetrics;
  auto out = std::back_inserter(family.samples);
  switch (metric.kind) {
    case PINGLOOM_COUNTER:
      fmt::format_to(out, "{}{}{{{}}} {}\n", name, open ? "_total" : "", labels,
                     page.values[metric.first_slot]);
      break;
    case PINGLOOM_GAUGE:
      fmt::format_to(out, "{}{{{}}} {}\n", name, labels,
                     numberText(std::bit_cast<double>(page.values[metric.first_slot])));
      break;
    case PINGLOOM_HISTOGRAM:
      addHistogram(family, name, labels, page, metric);
      break;
    case PINGLOOM_INFO:
      fmt::format_to(out, "{}{}{{{}}} 1\n", name, open ? "_info" : "", labels);
      break;
  }
}

void Exposition::addHistogram(Family& family, const std::string& name, const std::string& labels,
                              const PageView& page, const pages::Metric& metric) {
  auto out = std::back_inserter(family.samples);
  const std::uint64_t* slots = page.values.data() + metric.first_slot;
  const unsigned buckets = pingloom_histogram_buckets(metric.shape);
  std::uint64_t count = 0;
  for (unsigned bucket = 0; bucket < buckets; ++bucket) {
    // Applications write what they like: a sum that wrapped would not be a histogram any more.
    if (__builtin_add_overflow(count, slots[1 + bucket], &count)) {
      count = std::numeric_limits<std::uint64_t>::max();
    }
    const bool last = bucket + 1 == buckets;
    const double bound =
        static_cast<double>(pingloom_histogram_upper(metric.shape, bucket)) * metric.unit;
    fmt::format_to(out, "{}_bucket{{{},le=\"{}\"}} {}\n", name, labels,
                   last ? "+Inf" : numberText(bound), count);
  }
  fmt::format_to(out, "{}_sum{{{}}} {}\n", name, labels,
                 numberText(static_cast<double>(slots[0]) * metric.unit));
  fmt::format_to(out, "{}_count{{{}}} {}\n", name, labels, count);
}

std::string Exposition::text() const {
  std::string out;
  for (const auto& [name, family] : families_) {
    if (!family.help.empty())
      out += fmt::format("# HELP {} {}\n", name, helpText(family.help, format_));
    out += fmt::format("# TYPE {} {}\n", name, typeName(family.kind, format_));
    out += family.samples;
  }
  return out;
}

}  // namespace pingloom::collector
