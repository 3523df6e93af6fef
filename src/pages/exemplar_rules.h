// What an exemplar's place in a page holds (struct pingloom_exemplar). The client library writes by
// these rules, and the collector checks by them. Everything is inline, because the client library
// links nothing of pingloom's. Pure functions; any thread.
#pragma once

#include <cstddef>
#include <string_view>

#include "common/fnv1a.h"
#include "pages/definition_rules.h"
#include "pingloom/page_format.h"

namespace pingloom::pages {

// The number of exemplars that a metric of this kind can have. 0: there are none of it.
constexpr std::size_t exemplarPlaces(pingloom_metric_kind kind) {
  if (kind == PINGLOOM_COUNTER) return PINGLOOM_COUNTER_EXEMPLARS;
  return kind == PINGLOOM_HISTOGRAM ? PINGLOOM_HISTOGRAM_EXEMPLARS : 0;
}

// The number of slots that the exemplars of a metric of this kind take.
constexpr std::size_t exemplarSlots(pingloom_metric_kind kind) {
  return exemplarPlaces(kind) * PINGLOOM_EXEMPLAR_SLOTS;
}

// The checksum covers everything that follows it. Nothing is ordered within one READ, so no
// sequence number alone would tell a reader that the place was written meanwhile.
inline std::uint64_t checksumOf(const pingloom_exemplar& exemplar) {
  constexpr std::size_t kSkipped = sizeof exemplar.checksum;
  return fnv1a64({reinterpret_cast<const char*>(&exemplar) + kSkipped, sizeof exemplar - kSkipped});
}

// Tells whether an exemplar's label may have this name and this value. Not all of its labels may be
// empty, because for those who scrape it an empty label is none.
constexpr bool isExemplarLabel(std::string_view name, std::string_view value) {
  return isLabelName(name) && isText(value);
}

}  // namespace pingloom::pages
