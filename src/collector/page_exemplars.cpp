#include "collector/page_exemplars.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <span>
#include <utility>

#include "pages/exemplar.h"

namespace pingloom::collector {
namespace {

enum Refusal : std::size_t { kTorn, kMalformed, kOld, kAhead };

std::optional<Refusal> untimely(std::uint64_t time, Nanos now_utc) {
  const auto now = static_cast<std::uint64_t>(std::max<Nanos>(now_utc, 0));
  if (time > now + static_cast<std::uint64_t>(kMaxExemplarLead)) return kAhead;
  if (now > time && now - time > static_cast<std::uint64_t>(kMaxExemplarAge)) return kOld;
  return std::nullopt;
}

MetricExemplar shownAs(const pages::Exemplar& exemplar, const pages::Metric& metric) {
  MetricExemplar made;
  for (const auto& [name, value] : exemplar.labels) made.labels.add(name, value);
  made.value = metric.bounded() ? exemplar.value : pages::UnitScale(metric.unit)(exemplar.value);
  made.time = static_cast<Nanos>(exemplar.time);
  return made;
}

}  // namespace

std::vector<MetricExemplar> exemplarsOf(const PageView& page, const pages::Metric& metric,
                                        Nanos now_utc, ExemplarCounters& counters) {
  std::vector<MetricExemplar> made;
  const std::size_t begin = std::size_t{metric.first_slot} + metric.slots;
  const std::size_t end = metric.first_slot + metric.allSlots();
  if (end > page.values.size()) return made;  // its owner has not published them yet
  for (std::size_t at = begin; at < end; at += PINGLOOM_EXEMPLAR_SLOTS) {
    const auto read = pages::readExemplar(std::span<const std::uint64_t, PINGLOOM_EXEMPLAR_SLOTS>(
        page.values.data() + at, PINGLOOM_EXEMPLAR_SLOTS));
    if (!read) {
      ++counters.left_out[read.error() == pages::ExemplarFault::kTorn ? kTorn : kMalformed];
      continue;
    }
    if (!*read) continue;
    if (const auto why = untimely((*read)->time, now_utc)) {
      ++counters.left_out[*why];
      continue;
    }
    MetricExemplar exemplar = shownAs(**read, metric);
    if (!std::isfinite(exemplar.value)) {  // its unit is too large
      ++counters.left_out[kMalformed];
      continue;
    }
    made.push_back(std::move(exemplar));
    ++counters.shown;
  }
  return made;
}

}  // namespace pingloom::collector
