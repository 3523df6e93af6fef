#include "controller/http/latency_metrics.h"

namespace pingloom::controller::api {
namespace {

// Writes the histograms of one cell; `labels` are those of all of them.
void writeCell(MetricsText& text, Protocol protocol, const LatencyCell& cell,
               const LabelText& labels) {
  for (std::size_t part = 0; part < cell.size(); ++part) {
    if (!hasPart(protocol, part)) continue;
    LabelText own = labels;
    own.add("part", kLatencyPartNames[part]);
    text.histogram(
        {cell[part].buckets, latencyUpperSeconds, static_cast<double>(cell[part].sum_ns) / 1e9},
        own);
  }
}

LatencyCell sumOf(const std::vector<LatencyCell>& cells) {
  LatencyCell sum;
  for (const LatencyCell& cell : cells) {
    for (std::size_t part = 0; part < sum.size(); ++part) sum[part].add(cell[part]);
  }
  return sum;
}

void rollups(MetricsText& text, const LatencyShape::Probe& probe,
             const std::vector<LatencyCell>& cells) {
  for (std::size_t i = 0; i < probe.combinations.size(); ++i) {
    LabelText labels;
    labels.add("probe", probe.name);
    labels.add("label", probe.label);
    labels.add("source", probe.combinations[i].source);
    labels.add("destination", probe.combinations[i].destination);
    writeCell(text, probe.protocol, cells[i + 1], labels);
  }
}

}  // namespace

void latencyMetrics(MetricsText& text, const LatencySnapshot& latency) {
  const std::vector<LatencyShape::Probe>& probes = latency.shape->probes;
  text.family("pingloom_latency_seconds", "histogram",
              "Times of answered pings, by probe and part.");
  for (std::size_t i = 0; i < probes.size(); ++i) {
    if (!probes[i].shown) continue;
    LabelText labels;
    labels.add("probe", probes[i].name);
    writeCell(text, probes[i].protocol, sumOf(latency.cells[i]), labels);
  }
  text.family("pingloom_latency_rollup_seconds", "histogram",
              "Times of answered pings, by probe, part, and the values of the rollup label at "
              "source and destination.");
  for (std::size_t i = 0; i < probes.size(); ++i) rollups(text, probes[i], latency.cells[i]);
  text.gauge("pingloom_latency_series", "Series of all latency histograms; 10000 at most.",
             latency.shape->series);
  text.family("pingloom_latency_left_out", "gauge",
              "Combinations of label values, or the probe itself, that have no histogram because "
              "there would be too many series.");
  for (const LatencyShape::Probe& probe : probes) {
    if (probe.label.empty() && probe.shown) continue;
    text.sample(probe.left_out + (probe.shown ? 0 : 1), {{"probe", probe.name}});
  }
}

}  // namespace pingloom::controller::api
