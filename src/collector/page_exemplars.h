// Takes the exemplars of a metric from a page's values. Plain values.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "collector/board.h"
#include "common/metrics_writer.h"
#include "common/time.h"
#include "pages/schema.h"

namespace pingloom::collector {

// An older exemplar is not shown: its trace is hardly stored any more, and says little about now.
constexpr Nanos kMaxExemplarAge = 10 * kMinute;
// An exemplar from further ahead is not shown, because Prometheus takes none that are older than
// the last one of a series.
constexpr Nanos kMaxExemplarLead = kMinute;

// Why exemplars are left out, in the order of ExemplarCounters::left_out.
constexpr std::array<std::string_view, 4> kExemplarRefusals = {"torn", "malformed", "old", "ahead"};

struct ExemplarCounters {
  std::uint64_t shown = 0;
  std::array<std::uint64_t, kExemplarRefusals.size()> left_out{};
};

// Returns at most one for a counter, and PINGLOOM_HISTOGRAM_EXEMPLARS for a histogram. Their values
// have the unit of the metric's name. REQUIRES: the page has() the metric.
std::vector<MetricExemplar> exemplarsOf(const PageView& page, const pages::Metric& metric,
                                        Nanos now_utc, ExemplarCounters& counters);

}  // namespace pingloom::collector
