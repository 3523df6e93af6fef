#include "collector/family_names.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <span>

#include "common/log.h"
#include "common/metrics_text.h"

namespace pingloom::collector {
namespace {

constexpr std::string_view kOwnPrefix = "pingloom_collector_";
constexpr std::size_t kMinForgetAt = 1024;
// The number of names that are tried. An application that takes them all on purpose is left out.
constexpr unsigned kMaxTries = 20;

std::string_view endingOf(pingloom_metric_kind kind) {
  if (kind == PINGLOOM_COUNTER) return "_total";
  return kind == PINGLOOM_INFO ? "_info" : "";
}

// Returns the name without the ending that OpenMetrics gives to its samples.
std::string_view baseOf(std::string_view name, pingloom_metric_kind kind) {
  return MetricsText::familyName(name, pages::name(kind), MetricsFormat::kOpenMetrics);
}

// Returns the names that a family and its samples have in either format.
std::vector<std::string> samplesOf(std::string_view name, pingloom_metric_kind kind) {
  static constexpr std::array<std::string_view, 2> kCounter = {"_total", "_created"};
  static constexpr std::array<std::string_view, 4> kHistogram = {"_bucket", "_count", "_sum",
                                                                 "_created"};
  static constexpr std::array<std::string_view, 3> kSummary = {"_count", "_sum", "_created"};
  static constexpr std::array<std::string_view, 1> kInfo = {"_info"};
  std::span<const std::string_view> endings;
  if (kind == PINGLOOM_COUNTER) endings = kCounter;
  if (kind == PINGLOOM_HISTOGRAM) endings = kHistogram;
  if (kind == PINGLOOM_SUMMARY) endings = kSummary;
  if (kind == PINGLOOM_INFO) endings = kInfo;
  const std::string base(baseOf(name, kind));
  std::vector<std::string> samples = {base};
  for (const std::string_view ending : endings) samples.push_back(base + std::string(ending));
  return samples;
}

// Returns the name that is tried next: x_gauge, then x_gauge_2. The ending of a counter stays last.
std::string nameWithKind(std::string_view name, pingloom_metric_kind kind, unsigned attempt) {
  const std::string_view base = baseOf(name, kind);
  const std::string number = attempt > 1 ? fmt::format("_{}", attempt) : "";
  return fmt::format("{}_{}{}{}", base, pages::name(kind), number,
                     base.size() < name.size() ? endingOf(kind) : "");
}

std::string declarationOf(const pages::Metric& metric, const Declarer& by) {
  return fmt::format("{} '{}' of application '{}' (pid {}) on host '{}'", pages::name(metric.kind),
                     metric.name, by.application, by.process, by.host);
}

}  // namespace

FamilyNames::FamilyNames() {
  for (const ProcessMetric& metric : processMetrics()) {
    const auto kind = metric.type == "counter" ? PINGLOOM_COUNTER : PINGLOOM_GAUGE;
    const std::string name(metric.name);
    own_.push_back(add(
        {kind, name, name, fmt::format("{} '{}' of the collector itself", metric.type, name), ""}));
  }
}

std::shared_ptr<const FamilyName> FamilyNames::claim(const pages::Metric& metric,
                                                     const Declarer& by) {
  const std::lock_guard lock(mutex_);
  if (auto known = claimed({metric.name, metric.kind})) return known;
  FamilyName made{metric.kind, metric.name, metric.name, declarationOf(metric, by), ""};
  chooseName(made);
  if (!made.conflict.empty()) warn(made);
  return add(std::move(made));
}

std::shared_ptr<const FamilyName> FamilyNames::claimed(const Key& key) const {
  const auto found = families_.find(key);
  return found == families_.end() ? nullptr : found->second.lock();
}

std::shared_ptr<const FamilyName> FamilyNames::firstOf(
    const std::vector<std::string>& samples) const {
  for (const std::string& sample : samples) {
    const auto found = samples_.find(sample);
    if (found == samples_.end()) continue;
    if (auto family = found->second.lock()) return family;
  }
  return nullptr;
}

void FamilyNames::chooseName(FamilyName& made) const {
  std::string why;
  if (made.name.starts_with(kOwnPrefix)) {
    why = fmt::format("names that begin with {} are the collector's own", kOwnPrefix);
    made.shown = "exported_" + made.name;
  }
  const std::string wanted = made.shown;
  for (unsigned attempt = 1; attempt <= kMaxTries; ++attempt) {
    const auto first = firstOf(samplesOf(made.shown, made.kind));
    if (first == nullptr) {
      if (!why.empty()) {
        made.conflict =
            fmt::format("{} is shown as '{}', because {}", made.declared, made.shown, why);
      }
      return;
    }
    if (why.empty()) why = fmt::format("the {} came first", first->declared);
    made.shown = nameWithKind(wanted, made.kind, attempt);
  }
  made.shown.clear();
  made.conflict =
      fmt::format("{} is left out, because {}, and other names are taken too", made.declared, why);
}

std::shared_ptr<const FamilyName> FamilyNames::add(FamilyName made) {
  if (families_.size() >= std::max(forget_at_, kMinForgetAt)) forgetEnded();
  auto family = std::make_shared<const FamilyName>(std::move(made));
  families_[{family->name, family->kind}] = family;
  if (family->shown.empty()) return family;
  for (std::string& sample : samplesOf(family->shown, family->kind)) {
    samples_[std::move(sample)] = family;
  }
  return family;
}

// Ended families are forgotten when they may be as many as the others, so the work for a family is
// constant on average.
void FamilyNames::forgetEnded() {
  std::erase_if(families_, [](const auto& entry) { return entry.second.expired(); });
  std::erase_if(samples_, [](const auto& entry) { return entry.second.expired(); });
  forget_at_ = 2 * families_.size();
}

void FamilyNames::warn(const FamilyName& made) {
  if (logged_ == kMaxLogged) return;
  log::warning("{}", made.conflict);
  if (++logged_ == kMaxLogged) {
    log::warning("{} conflicts of names were logged; /api/v1/pages shows all", kMaxLogged);
  }
}

}  // namespace pingloom::collector
